import type { Answer } from './ask.ts'
import type { CommandSpec } from './command.ts'
import type { Field } from './fields.ts'
import type { Wire } from './print.ts'
import type { Terminal } from './terminal.ts'

/** Whether a command answers one page of many. */
export function isPaged({ options }: CommandSpec): boolean {
  return options.some(isCursor)
}

function isCursor({ place, name }: Field): boolean {
  return place === 'query' && name === 'cursor'
}

/**
 * Every page of a list as one, from where the given values begin. A refusal ends it and is the answer,
 * since a part must not pass for the whole.
 */
export async function askAllPages(
  spec: CommandSpec,
  values: ReadonlyMap<Field, unknown>,
  ask: (values: ReadonlyMap<Field, unknown>) => Promise<Answer>,
  { notice }: Terminal,
): Promise<Answer> {
  const place = new Map(values)
  const data: unknown[] = []
  for (;;) {
    const answer = await ask(place)
    if (answer.status >= 400) {
      notice?.('')
      return answer
    }
    const page = JSON.parse(answer.text) as Wire
    data.push(...(page['data'] as readonly unknown[]))
    if (page['has_more'] !== true) {
      notice?.('')
      return { ...answer, text: JSON.stringify({ ...page, data }) }
    }
    notice?.(`${data.length} so far`)
    for (const field of spec.options.filter(isCursor)) place.set(field, page['next_cursor'])
  }
}
