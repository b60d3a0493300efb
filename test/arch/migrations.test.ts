/** Migrations only add: a daemon of the version before goes on beside one of this version. */
import t from 'tap'
import { PLATFORM_MIGRATIONS } from '../../plugins/platform/nouns.ts'
import { namePlatformTables } from '../../plugins/platform/sql/tables.ts'
import { coreSteps, stepsOf } from '../../plugins/store/sql/migrate.ts'
import type { Step } from '../../plugins/store/sql/migrations/migration.ts'
import { createDialect } from '../../plugins/store/sql/postgres/dialect.ts'
import { SQLITE } from '../../plugins/store/sql/sqlite/dialect.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'

const STEPS: readonly Step[] = [
  ...coreSteps(nameTables('')),
  ...stepsOf(PLATFORM_MIGRATIONS, namePlatformTables('')),
]

/** What takes away something that a statement of an older version may name. */
const TAKES = [
  /\bDROP\s+(TABLE|COLUMN|VIEW|TRIGGER|CONSTRAINT|TYPE|SEQUENCE)\b/i,
  /\bRENAME\b/i,
  /\bALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE\b/i,
  /\bALTER\s+TYPE\b/i,
  /\bSET\s+NOT\s+NULL\b/i,
  /\bTRUNCATE\b/i,
]

/** A column that the inserts of an older version do not name. */
const REQUIRED = /\bADD\s+COLUMN\s+(?!.*\bDEFAULT\b).*\bNOT\s+NULL\b/is

/** Steps that take away all the same, with the reason for which no daemon notices. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'events/0003-grouped': 'views of SQLite, which one process uses; each version makes its own',
  'events/0004-why-exhausted': 'a trigger of SQLite, which one process uses',
  'events/0006-traceparent': 'views of SQLite, which one process uses',
  'jobs/0002-files': 'runs alone: no daemon of an older version may serve',
  'jobs/0003-domain-checks': 'runs alone',
  'jobs/0004-edits': 'runs alone',
  'jobs/0005-deployments': 'runs alone',
  'tasks/0002-one-message-one-task': 'a column of no released version',
}

const takes = (step: Step): readonly string[] =>
  [SQLITE, createDialect()]
    .flatMap((dialect) => step.up(dialect))
    .filter((sql) => REQUIRED.test(sql) || TAKES.some((pattern) => pattern.test(sql)))

await t.test('a migration takes nothing away, or says why that is noticed by none', async (t) => {
  for (const step of STEPS) {
    const taken = takes(step)
    if (step.name in EXCEPTIONS) t.ok(taken.length > 0, `${step.name} is an exception for nothing`)
    else t.same(taken, [], step.name)
  }
  t.same(
    Object.keys(EXCEPTIONS).filter((name) => !STEPS.some((step) => step.name === name)),
    [],
  )
})

await t.test('an exception that says so does run alone', async (t) => {
  const alone = STEPS.filter((step) => step.alone).map(({ name }) => name)
  for (const [name, reason] of Object.entries(EXCEPTIONS)) {
    if (reason.startsWith('runs alone')) t.ok(alone.includes(name), name)
  }
})

await t.test('what takes away is found', async (t) => {
  const refused = [
    'ALTER TABLE a DROP COLUMN b',
    'DROP TABLE a',
    'ALTER TABLE a RENAME TO b',
    'ALTER TABLE a ALTER COLUMN b TYPE BIGINT',
    'ALTER TABLE a ADD COLUMN b TEXT NOT NULL',
    'ALTER TABLE a ALTER COLUMN b SET NOT NULL',
  ]
  const step = (sql: string): Step => ({ name: 'a', alone: false, up: () => [sql] })
  for (const sql of refused) t.ok(takes(step(sql)).length > 0, sql)
  t.same(takes(step('ALTER TABLE a ADD COLUMN b TEXT NOT NULL DEFAULT 1')), [])
  t.same(takes(step('DROP INDEX a_by_b')), [], 'an index is only slower without')
})
