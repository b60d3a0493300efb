/** `node dist/test/crash/table.js FILE…`: prints the runs of results files as the tables of the document. */
import { readFileSync } from 'node:fs'
import { INVARIANTS } from './ledger.ts'
import type { CrashLine } from './result-line.ts'

const runs = process.argv
  .slice(2)
  .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
  .map((line) => JSON.parse(line) as CrashLine)

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
const grouped = (count: number): string => count.toLocaleString('en')

const KINDS: Readonly<Record<string, (run: CrashLine) => boolean>> = {
  SQLite: ({ db }) => db === 'sqlite',
  PostgreSQL: ({ db, daemons }) => db === 'postgres' && daemons === 1,
  'several daemons': ({ daemons }) => daemons > 1,
}

const ofRuns = runs.map(({ commit, db, daemons, seed, kills, failpoints, ...run }) =>
  row(
    `${commit}, ${db}${daemons > 1 ? `, ${daemons} daemons` : ''}`,
    `${grouped(kills.total)} (${kills.failpoint}, ${kills.random}, ${kills.boot}, ${kills.term}, ${kills.server})`,
    `${failpoints.covered} of ${failpoints.all}`,
    grouped(run.events),
    grouped(run.deliveries),
    grouped(run.repeated),
    `${run.late_ms.p50}, ${run.late_ms.p99}, ${run.late_ms.max}`,
    Object.values(run.invariants).reduce((sum, { violated }) => sum + violated, 0),
    `\`${seed}\``,
  ),
)

/** How often an invariant was looked at in some of the runs, and how often it did not hold. */
function sumOf(of: (run: CrashLine) => boolean, name: string): string {
  const rows = runs.filter(of).map(({ invariants }) => invariants[name])
  const checked = rows.reduce((sum, one) => sum + (one?.checked ?? 0), 0)
  const violated = rows.reduce((sum, one) => sum + (one?.violated ?? 0), 0)
  return `${grouped(checked)}, ${grouped(violated)}`
}

const lines = [
  row(
    'commit, database',
    'kills (failpoint, random, starting, told to stop, server)',
    'failpoints × nth',
    'events',
    'deliveries',
    'sent again',
    'retry late by ms: p50, p99, most',
    'violations',
    'seed',
  ),
  row(...Array.from({ length: 9 }, () => '---')),
  ...ofRuns,
  '',
  row('invariant: checked, violated', ...Object.keys(KINDS)),
  row('---', ...Object.keys(KINDS).map(() => '---')),
  ...Object.entries(INVARIANTS).map(([name, says]) =>
    row(`\`${name}\`: ${says}`, ...Object.values(KINDS).map((of) => sumOf(of, name))),
  ),
]
process.stdout.write(`${lines.join('\n')}\n`)
