/** `node dist/test/crash/table.js FILE…`: prints the runs of results files as the tables of README.md. */
import { readFileSync } from 'node:fs'
import { INVARIANTS } from './ledger.ts'
import type { CrashLine, DiskLine } from './result-line.ts'

const all = process.argv
  .slice(2)
  .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
  .map((line) => JSON.parse(line) as CrashLine | DiskLine)
const runs = all.flatMap((line) => ('harness' in line ? [] : [line]))
const disks = all.flatMap((line) => ('harness' in line ? [line] : []))

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
const minutes = (seconds: number): number => Math.round(seconds / 60)
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

const ofJumps = runs.flatMap(({ commit, db, seed, jumps }) =>
  jumps === undefined
    ? []
    : [
        row(
          `${commit}, ${db}`,
          `${grouped(jumps.serving)}, ${grouped(jumps.between)}`,
          `${minutes(jumps.ahead_s)}, ${minutes(jumps.behind_s)}`,
          grouped(jumps.unplaced),
          `\`${seed}\``,
        ),
      ],
)

const ofDisks = disks.map((line) =>
  row(
    line.commit,
    `${grouped(line.acknowledged_before_full)}, ${grouped(line.acknowledged)}`,
    Object.entries(line.refusals)
      .map(([status, count]) => `${count} × ${status}`)
      .join(', '),
    line.readable_when_full ? 'yes' : 'no',
    line.accepts_again_after_ms ?? 'never',
    `${line.lost}, ${line.not_delivered}, ${line.delivered_twice}, ${line.sent_unacknowledged}`,
    line.faults,
  ),
)

/** Left out where there is nothing to show. */
function table(head: readonly string[], rows: readonly string[]): readonly string[] {
  return rows.length === 0 ? [] : ['', row(...head), row(...head.map(() => '---')), ...rows]
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
  ...table(
    [
      'commit, database',
      'the clock jumped (while a daemon served, else)',
      'at most ahead, behind by min',
      'attempts not judged',
      'seed',
    ],
    ofJumps,
  ),
  ...table(
    [
      'commit, disk full',
      'acknowledged until it was full, in all',
      'refused',
      'readable then',
      'accepts again after ms',
      'lost, not sent, sent twice, sent unacknowledged',
      'integrity faults',
    ],
    ofDisks,
  ),
]
process.stdout.write(`${lines.join('\n')}\n`)
