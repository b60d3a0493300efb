import type { DatabaseName } from '../../crash/database.ts'
import type { Spread } from '../../fleet/result-line.ts'
import { spreadOf } from '../../fleet/result-line.ts'
import type { CyclesLedger } from './invariants.ts'
import type { RunResult } from './run.ts'

/** One run as a line of a results file. */
export interface CyclesLine {
  readonly commit: string
  readonly node: string
  readonly db: DatabaseName
  readonly daemons: number
  readonly visitors: number
  readonly seed: string
  readonly seconds: number
  readonly cycles: number
  /** Deployments by kind and how they ended. */
  readonly deployments: Readonly<Record<string, number>> & { readonly all: number }
  /** By method and status. */
  readonly answers: Readonly<Record<string, number>> & { readonly all: number }
  /** Answers that were under way while something changed. */
  readonly overlapping: number
  /** From asking for a publication or a rollback until it was seen to be live. */
  readonly live_ms: Spread
  readonly answer_ms: Spread
  readonly invariants: CyclesLedger['rows']
}

export function toLine(
  { cycles, deeds, judge, ledger, seconds }: RunResult,
  of: Pick<CyclesLine, 'commit' | 'db' | 'daemons' | 'visitors' | 'seed'>,
): CyclesLine {
  const deployments: Record<string, number> = {}
  for (const { kind, status } of deeds) {
    const name = status === kind || status === 'unpublished' ? kind : `${kind} ${status}`
    deployments[name] = (deployments[name] ?? 0) + 1
  }
  const lived = deeds.filter(({ status }) => status === 'live')
  return {
    ...of,
    node: process.version,
    seconds: Math.round(seconds),
    cycles,
    deployments: { all: deeds.length, ...deployments },
    answers: { all: judge.took.length, ...judge.counts },
    overlapping: judge.overlapping,
    live_ms: spreadOf(lived.map(({ took }) => took)),
    answer_ms: spreadOf(judge.took),
    invariants: ledger.rows,
  }
}

export function printLine(line: CyclesLine): string {
  const { answers, deployments, live_ms, answer_ms } = line
  const print = ({ n, p50, p90, p99, max }: Spread): string =>
    `n ${n}, p50 ${p50}, p90 ${p90}, p99 ${p99}, at most ${max} ms`
  return [
    `${line.db}, ${line.daemons} daemons, ${line.visitors} visitors: ${line.cycles} cycles in ${line.seconds} s, seed ${line.seed}`,
    `deployments: ${JSON.stringify(deployments)}`,
    `answers: ${JSON.stringify(answers)}, ${line.overlapping} of them while something changed`,
    `live after: ${print(live_ms)}`,
    `answered after: ${print(answer_ms)}`,
    ...Object.entries(line.invariants).map(
      ([name, { checked, violated }]) =>
        `${name.padEnd(20)} ${checked} checked, ${violated} violated`,
    ),
    '',
  ].join('\n')
}
