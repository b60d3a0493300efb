import type { Test } from 'tap'
import type { AnsweredRow, Section } from './table.ts'
import { idsOf, isOmitted } from './table.ts'

/**
 * Notes what was answered, such as `403 key_not_managed`. Steps that only prepare the case are not noted.
 */
export type Saw = (outcome: string) => void

/** Carries out one case; what the table promises in backticks must pass through `saw`. */
export type Check = (t: Test, saw: Saw) => Promise<void>

/** Checks by the ids of the rows they carry out. */
export type Checks = Readonly<Record<string, Check>>

/**
 * Runs every row of a section as a subtest of its own, then asserts that each of its ids was run exactly
 * once or is omitted with a reason.
 */
export async function runSection(t: Test, section: Section, checks: Checks): Promise<void> {
  const ran: string[] = []
  await runRows(t, section, checks, (_, { id }) => {
    ran.push(id)
  })
  await t.test(`no ${section.letter} is missing, repeated or omitted without a reason`, (t) => {
    const omitted = section.rows.filter(isOmitted)
    for (const row of omitted) t.match(row.omitted, /\w+ \w+ \w+/, row.id)
    t.same([...ran, ...omitted.map(({ id }) => id)].sort(), idsOf(section))
    t.same(Object.keys(checks).sort(), [...ran].sort(), 'no check is left over')
    t.end()
  })
}

/** Runs the rows of a section that are not omitted, each as a subtest. */
export async function runRows(
  t: Test,
  { rows }: Pick<Section, 'rows'>,
  checks: Checks,
  ended: (t: Test, row: AnsweredRow) => void,
): Promise<void> {
  for (const row of rows) {
    if (isOmitted(row)) continue
    await t.test(`${row.id} ${row.case}`, async (t) => {
      await runRow(t, row, checks)
      ended(t, row)
    })
  }
}

/** What was seen must be exactly what the row promises: an outcome it does not promise fails the row where it is seen. */
async function runRow(t: Test, row: AnsweredRow, checks: Checks): Promise<void> {
  const check = checks[row.id]
  if (check === undefined) throw new Error(`nothing carries out ${row.id}`)
  const promised = outcomesIn(row.answer)
  const seen = new Set<string>()
  await check(t, (outcome) => {
    seen.add(outcome)
    if (!promised.has(outcome)) t.fail(`the answer was ${outcome}`, { promised: [...promised] })
  })
  for (const outcome of promised) {
    t.ok(seen.has(outcome), `the answer was ${outcome}`, { seen: [...seen] })
  }
}

const SCOPE = /^[a-z*]+:[a-z*]+$/

/** The texts in backticks, except scopes, which are no outcomes. */
function outcomesIn(answer: string): ReadonlySet<string> {
  const texts = [...answer.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
  return new Set(texts.filter((text) => !SCOPE.test(text)))
}
