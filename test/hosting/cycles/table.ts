/** `node dist/test/hosting/cycles/table.js FILE…`: prints the runs of results files as the tables of README.md. */
import { readFileSync } from 'node:fs'
import type { Row } from '../../crash/ledger.ts'
import type { Spread } from '../../fleet/result-line.ts'
import { INVARIANTS } from './invariants.ts'
import type { CyclesLine } from './result-line.ts'

const runs = process.argv
  .slice(2)
  .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
  .map((line) => JSON.parse(line) as CyclesLine)

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
const grouped = (count: number): string => count.toLocaleString('en')
const print = ({ n, p50, p90, p99, max }: Spread): string =>
  `${p50}, ${p90}, ${p99}, ${max} (${grouped(n)})`
const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0)

/** Of kinds and ends, those that begin so. */
function count(counts: Readonly<Record<string, number>>, name: RegExp): string {
  const found = Object.entries(counts).filter(([key]) => name.test(key))
  return grouped(sum(found.map(([, one]) => one)))
}

const HEADS = [
  'commit, database, daemons',
  'cycles',
  'published, rolled back, taken offline, failed, canceled',
  'answers (200, 206, 304, 404)',
  'while something changed',
  'live after ms: p50, p90, p99, most (n)',
  'answered after ms',
  'seconds',
  'violations',
  'seed',
]

const ofRuns = runs.map(({ deployments, answers, invariants, ...run }) =>
  row(
    `${run.commit}, ${run.db}, ${run.daemons}`,
    grouped(run.cycles),
    [/^publish live/, /^rollback live/, /^unpublish/, / failed$/, / canceled$/]
      .map((name) => count(deployments, name))
      .join(', '),
    `${grouped(answers.all)} (${[/200$/, /206$/, /304$/, /404$/].map((name) => count(answers, name)).join(', ')})`,
    grouped(run.overlapping),
    print(run.live_ms),
    print(run.answer_ms),
    grouped(run.seconds),
    sum(Object.values<Row>(invariants).map(({ violated }) => violated)),
    `\`${run.seed}\``,
  ),
)

const DATABASES = ['sqlite', 'postgres'] as const

const ofInvariants = Object.entries(INVARIANTS).map(([name, says]) => {
  const cells = DATABASES.map((db) => {
    const rows = runs
      .filter((run) => run.db === db)
      .map(({ invariants }) => invariants[name as keyof typeof INVARIANTS])
    return `${grouped(sum(rows.map((one) => one.checked)))}, ${sum(rows.map((one) => one.violated))}`
  })
  return row(`\`${name}\`: ${says}`, ...cells)
})

const lines = [
  row(...HEADS),
  row(...HEADS.map(() => '---')),
  ...ofRuns,
  '',
  row('invariant: checked, violated', 'SQLite', 'PostgreSQL'),
  row('---', '---', '---'),
  ...ofInvariants,
]
process.stdout.write(`${lines.join('\n')}\n`)
