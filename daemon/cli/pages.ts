import type { Answer } from './ask.ts'
import type { CommandSpec, Field } from '../operations/command.ts'
import type { Wire } from './print.ts'
import type { Terminal } from './terminal.ts'

/** Whether a command returns one page of a list. */
export function isPaged({ options }: CommandSpec): boolean {
  return options.some(isCursor)
}

function isCursor({ location, name }: Field): boolean {
  return location === 'query' && name === 'cursor'
}

/** Reads every page of a list as one, starting from the given values. */
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
 * Reads every page of a list as one. A refusal ends the read and is the result, because a part must not
 * look like the whole list.
 *
 * @param ask requests the page at a cursor; undefined for the first page
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
