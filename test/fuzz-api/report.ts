import { STATE_ONLY } from '../../daemon/docs/state-only.ts'

/** What the hooks counted. */
export interface Tally {
  /** By operation and status, such as `keys.list 200`. */
  readonly answers: Readonly<Record<string, number>>
  /** By the name of the check. */
  readonly checks: Readonly<Record<string, number>>
  /** Refusals by the row of `STATE_ONLY` that excuses them. */
  readonly excused: Readonly<Record<string, number>>
  /** Records that could not be created, by why. */
  readonly unmade: Readonly<Record<string, number>>
}

/** Checks of the fuzzer that are not made, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  use_after_free: 'Needs sequences of requests, which are not generated.',
  ensure_resource_availability: 'Needs sequences of requests, which are not generated.',
  ignored_auth: 'test/daemon walks every operation without credentials and with wrong ones.',
}

export interface Report {
  readonly lines: readonly string[]
  /** Of the document, which were never requested. */
  readonly untested: readonly string[]
}

/** What was done, with n; its last line is what a log is read for. */
export function reportOf(tally: Tally, operations: readonly string[]): Report {
  const answers = Object.entries(tally.answers).map(([name, count]) => {
    const [operation = '', status = ''] = name.split(' ')
    return { operation, status, count }
  })
  const asked = new Set(answers.map(({ operation }) => operation))
  const done = new Set(
    answers.filter(({ status }) => status.startsWith('2')).map(({ operation }) => operation),
  )
  const byStatus = new Map<string, number>()
  for (const { status, count } of answers) {
    byStatus.set(status, (byStatus.get(status) ?? 0) + count)
  }
  const statuses = [...byStatus]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([status, count]) => `${status}: ${shown(count)}`)
  const without = operations.filter((id) => !done.has(id))
  const untested = operations.filter((id) => !asked.has(id))
  return {
    untested,
    lines: [
      ...Object.entries(tally.excused).map(([at, count]) => excuseOf(Number(at), count)),
      ...Object.entries(LEFT_OUT).map(([name, reason]) => `check ${name} left out: ${reason}`),
      ...Object.entries(tally.unmade).map(
        ([name, count]) => `not created, ${count} times: ${name}`,
      ),
      `statuses: ${statuses.join(', ')}`,
      `operations without a success: ${without.length === 0 ? 'none' : without.join(', ')}`,
      `${operations.length - untested.length} of ${operations.length} operations, ${shown(sum(tally.answers))} requests, ${shown(sum(tally.checks))} checks`,
    ],
  }
}

function excuseOf(at: number, count: number): string {
  const row = STATE_ONLY[at]
  const place = row?.location === undefined ? '' : ` at ${row.location}`
  return `refused although valid, ${shown(count)} times: ${row?.code}${place}: ${row?.reason}`
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((all, count) => all + count, 0)
}

function shown(count: number): string {
  return count.toLocaleString('en-US')
}

/** How the fuzzer heads what it says of an operation. */
const HEADING = /^_+ (\S+ \S+) _+\n/m

/**
 * The operations for which the fuzzer's own generator recursed without end, which 4.32.0 does at times for a schema
 * that refers to itself: no request was made, and the examples and the coverage of the operation were judged before.
 *
 * @returns undefined when the fuzzer says anything else than that, such as a disagreement
 */
export function recursedIn(output: string): readonly string[] | undefined {
  const [, said = ''] = /^=+ ERRORS =+\n([^]*?)^=+ SUMMARY =+$/m.exec(output) ?? []
  const [before = '', ...parts] = said.split(HEADING)
  if (before !== '' || parts.length === 0 || /^=+ FAILURES =+$/m.test(output)) return undefined
  const texts = parts.filter((_, index) => index % 2 === 1)
  const isRecursion = (text: string): boolean =>
    text.startsWith('Runtime Error\n\nmaximum recursion depth exceeded') &&
    !/^(Runtime|Network|Schema) Error$/m.test(text.slice('Runtime Error'.length))
  return texts.every(isRecursion) ? parts.filter((_, index) => index % 2 === 0) : undefined
}
