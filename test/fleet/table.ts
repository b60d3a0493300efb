/** `node dist/test/fleet/table.js FILE…`: prints the runs of results files as the tables of README.md. */
import { readFileSync } from 'node:fs'
import type { Row } from '../crash/ledger.ts'
import { INVARIANTS } from './invariants.ts'
import type { FleetLine, Spread } from './result-line.ts'

const runs = process.argv
  .slice(2)
  .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
  .map((line) => JSON.parse(line) as FleetLine)

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
const grouped = (count: number): string => count.toLocaleString('en')
const print = ({ n, p50, p90, p99, max }: Spread): string =>
  n === 0 ? 'none' : `${p50}, ${p90}, ${p99}, ${max} (${grouped(n)})`
const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0)

const HEADS = [
  'commit, daemons',
  'changes',
  'probes',
  'faults',
  'from the cache, without faults',
  'answered by ms: p50, p90, p99, most (n), without faults',
  'with faults',
  'asked again',
  'pauses',
  'claims taken over',
  'late outcomes',
  'violations',
  'seed',
]

const ofRuns = runs.map(({ verifications, answer_ms, zombies, ...run }) =>
  row(
    `${run.commit}, ${run.daemons}`,
    grouped(run.changes.all),
    grouped(run.probes.all),
    sum(Object.values(run.faults)),
    `${(100 * run.hit_rate).toFixed(1)} % of ${grouped(verifications.cache + verifications.store)}`,
    print(answer_ms.calm),
    print(answer_ms.faulty),
    run.repeats,
    zombies.cycles,
    grouped(zombies.takenOver),
    grouped(zombies.offered),
    sum(Object.values<Row>(run.invariants).map(({ violated }) => violated)),
    `\`${run.seed}\``,
  ),
)

const ofInvariants = Object.entries(INVARIANTS).map(([name, says]) => {
  const rows = runs.map(({ invariants }) => invariants[name as keyof typeof INVARIANTS])
  const total = (of: keyof Row): string => grouped(sum(rows.map((one) => one[of])))
  return row(`\`${name}\`: ${says}`, total('checked'), total('violated'))
})

const lines = [
  row(...HEADS),
  row(...HEADS.map(() => '---')),
  ...ofRuns,
  '',
  row('invariant', 'checked', 'violated'),
  row('---', '---', '---'),
  ...ofInvariants,
]
process.stdout.write(`${lines.join('\n')}\n`)
