/**
 * `npm run cycles -- --cycles N --db sqlite|postgres [--daemons N] [--visitors N] [--seed S] [--json] [--results FILE]`:
 * publishes an app and rolls it back while visitors load it, and holds every answer against what was live.
 *
 * Also: --pace MS the longest rest between two changes, --rest MS that of a visitor, --lag MS the longest that
 * the path from a daemon to PostgreSQL is held now and then, --mutant NAME for daemons that err on purpose.
 */
import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readCommit } from '../../crash/commit.ts'
import type { DatabaseName } from '../../crash/database.ts'
import { chooseSeed } from '../../support/seeded-random.ts'
import { INVARIANTS } from './invariants.ts'
import { CYCLES_MUTANTS } from './mutants.ts'
import { printLine, toLine } from './result-line.ts'
import { runCycles } from './run.ts'

const { values } = parseArgs({
  options: {
    db: { type: 'string', default: 'sqlite' },
    cycles: { type: 'string', default: '100' },
    daemons: { type: 'string' },
    visitors: { type: 'string', default: '6' },
    pace: { type: 'string', default: '60' },
    rest: { type: 'string', default: '0' },
    lag: { type: 'string', default: '300' },
    seed: { type: 'string', default: chooseSeed() },
    mutant: { type: 'string' },
    results: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})

const db: DatabaseName = values.db === 'postgres' ? 'postgres' : 'sqlite'
const daemons = Number(values.daemons ?? (db === 'postgres' ? 2 : 1))
const visitors = Number(values.visitors)
const { seed, mutant } = values
if (daemons > 1 && db === 'sqlite') throw new Error('a file of SQLite has one daemon')
if (mutant !== undefined && !CYCLES_MUTANTS.some(({ name }) => name === mutant)) {
  throw new Error(`mutants: ${CYCLES_MUTANTS.map(({ name }) => name).join(', ')}`)
}

const say = (text: string): void => {
  process.stderr.write(`${text}\n`)
}
say(`seed ${seed}`)
const folder = await mkdtemp(join(tmpdir(), 'keyhook-cycles-'))
const result = await runCycles({
  folder,
  database: db,
  daemons,
  cycles: Number(values.cycles),
  visitors,
  pace: Number(values.pace),
  rest: Number(values.rest),
  lag: Number(values.lag),
  seed,
  mutant,
  progress: say,
})
const line = toLine(result, { commit: readCommit(), db, daemons, visitors, seed })
if (values.results !== undefined) appendFileSync(values.results, `${JSON.stringify(line)}\n`)
process.stdout.write(values.json ? `${JSON.stringify(line)}\n` : printLine(line))

const { violations } = result.ledger
for (const { name, evidence } of violations.slice(0, 5)) {
  say(`violated: ${name} (${INVARIANTS[name]})\n  ${evidence}`)
}
// What a mutant leaves behind is evidence of nothing.
if (violations.length === 0 || mutant !== undefined) {
  await rm(folder, { recursive: true, force: true })
} else say(`seed ${seed}, everything is kept in ${folder}`)
process.exitCode = violations.length === 0 ? 0 : 1
