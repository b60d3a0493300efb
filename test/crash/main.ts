/**
 * `npm run crash -- --db sqlite|postgres --kills N [--seed S] [--json] [--results FILE]`: kills a daemon
 * under load at every failpoint and at random, and holds what it did against what it promised.
 *
 * Also: --daemons N that share one database of PostgreSQL, of which one dies, --nth N occurrences of each failpoint (default 3), --points N failpoints chosen by the seed
 * (default all), --chapter N kills between two pauses, --mutant NAME for a daemon that errs on purpose,
 * --jumps N times that the clock of the daemons jumps by minutes or hours; then a chapter is 25 kills,
 * --late S seconds that a retry may be late (default 5), which a test allows a busy machine.
 */
import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { chooseSeed } from '../support/seeded-random.ts'
import { readCommit } from './commit.ts'
import type { DatabaseName } from './database.ts'
import { INVARIANTS } from './ledger.ts'
import { MUTANTS } from './mutants.ts'
import type { CrashLine } from './result-line.ts'
import { toLine } from './result-line.ts'
import { runCrash } from './run.ts'

const { values } = parseArgs({
  options: {
    db: { type: 'string', default: 'sqlite' },
    kills: { type: 'string', default: '150' },
    nth: { type: 'string', default: '3' },
    points: { type: 'string' },
    chapter: { type: 'string' },
    jumps: { type: 'string', default: '0' },
    late: { type: 'string', default: '5' },
    daemons: { type: 'string', default: '1' },
    seed: { type: 'string', default: chooseSeed() },
    mutant: { type: 'string' },
    results: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})

const database: DatabaseName = values.db === 'postgres' ? 'postgres' : 'sqlite'
const daemons = Number(values.daemons)
const jumps = Number(values.jumps)
if (daemons > 1 && database === 'sqlite') throw new Error('a file of SQLite has one daemon')
if (values.mutant !== undefined && !MUTANTS.some(({ name }) => name === values.mutant)) {
  throw new Error(`mutants: ${MUTANTS.map(({ name }) => name).join(', ')}`)
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`)
}
say(`seed ${values.seed}`)
const result = await runCrash({
  database,
  kills: Number(values.kills),
  nth: Number(values.nth),
  points: values.points === undefined ? undefined : Number(values.points),
  seed: values.seed,
  mutant: values.mutant,
  daemons,
  chapter: Number(values.chapter ?? (jumps > 0 ? 25 : 100)),
  jumps,
  late: Number(values.late) * 1000,
  progress: say,
})
const line = toLine(result, { database, daemons, seed: values.seed, commit: readCommit() })
if (values.results !== undefined) appendFileSync(values.results, `${JSON.stringify(line)}\n`)
process.stdout.write(values.json ? `${JSON.stringify(line)}\n` : print(line))

for (const { name, evidence } of result.ledger.violations.slice(0, 20)) {
  say(`violated: ${name} (${INVARIANTS[name]})\n  ${evidence}`)
}
if (result.ledger.violations.length > 0) {
  say(`seed ${values.seed}, everything is kept in ${result.folder}`)
  process.exitCode = 1
}

function print({ kills, failpoints, invariants, late_ms, jumps, ...line }: CrashLine): string {
  const rows = Object.entries(invariants).map(
    ([name, { checked, violated }]) =>
      `${name.padEnd(20)} ${checked} checked, ${violated} violated`,
  )
  return [
    `${line.db}: ${kills.total} kills (${JSON.stringify(kills)}) in ${line.seconds} s, seed ${line.seed}`,
    `${line.events} events, ${line.deliveries} deliveries, ${line.arrivals} arrivals, ${line.repeated} repeated`,
    `failpoints: ${failpoints.covered} of ${failpoints.all}; not covered: ${failpoints.missed.join(' ') || 'none'}`,
    `retries late by p50 ${late_ms.p50} ms, p99 ${late_ms.p99} ms, at most ${late_ms.max} ms`,
    ...(jumps ? [`the clock jumped: ${JSON.stringify(jumps)}`] : []),
    ...rows,
    '',
  ].join('\n')
}
