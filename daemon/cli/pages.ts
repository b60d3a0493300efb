import type { Answer } from './ask.ts'
import type { CommandSpec } from './command.ts'
import type { Field } from './fields.ts'
import type { Wire } from './print.ts'
import type { Terminal } from './terminal.ts'

/** Whether a command answers one page of many. */
export function isPaged({ options }: CommandSpec): boolean {
  return options.some(isCursor)
}

function isCursor({ location, name }: Field): boolean {
  return location === 'query' && name === 'cursor'
}

/** Every page of a list as one, from where the given values begin. */
export function askAllPages(
  spec: CommandSpec,
  values: ReadonlyMap<Field, unknown>,
  ask: (values: ReadonlyMap<Field, unknown>) => Promise<Answer>,
  terminal: Terminal,
): Promise<Answer> {
  const cursors = spec.options.filter(isCursor)
  return readAllPages(
    (cursor) =>
      ask(
        cursor === undefined
          ? values
          : new Map([...values, ...cursors.map((field) => [field, cursor] as const)]),
      ),
    terminal,
  )
}

/**
 * Every page of a list as one. A refusal ends it and is the answer, since a part must not pass for the
 * whole.
 *
 * @param ask asks for the page that a cursor leads to; undefined for the first
 */
export async function readAllPages(
  ask: (cursor: string | undefined) => Promise<Answer>,
  { notice }: Pick<Terminal, 'notice'>,
): Promise<Answer> {
  const data: unknown[] = []
  let cursor: string | undefined
  for (;;) {
    const answer = await ask(cursor)
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
    cursor = String(page['next_cursor'])
  }
}
