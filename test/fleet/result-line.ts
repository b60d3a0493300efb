import type { FleetLedger } from './invariants.ts'
import type { AuthorityResult } from './run.ts'
import type { ZombieResult } from './zombies.ts'

/** One run as a line of a results file. */
export interface FleetLine {
  readonly commit: string
  readonly node: string
  readonly daemons: number
  readonly seed: string
  readonly seconds: number
  readonly changes: Readonly<Record<string, number>> & { readonly all: number }
  readonly probes: AuthorityResult['probes'] & { readonly all: number }
  readonly faults: Readonly<Record<string, number>>
  readonly verifications: AuthorityResult['verifications']
  readonly hit_rate: number
  /** How long a change took to be answered. */
  readonly answer_ms: { readonly calm: Spread; readonly faulty: Spread }
  readonly zombies: ZombieResult
  readonly repeats: number
  readonly invariants: FleetLedger['rows']
}

export interface Spread {
  readonly n: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number): number =>
    Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? 0)
  return { n: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) }
}

export function toLine(
  { changes, probes, faults, verifications }: AuthorityResult,
  { repeats, ...zombies }: ZombieResult & { readonly repeats: number },
  invariants: FleetLedger['rows'],
  of: Pick<FleetLine, 'commit' | 'seed' | 'daemons' | 'seconds'>,
): FleetLine {
  const kinds: Record<string, number> = {}
  for (const { kind } of changes) kinds[kind] = (kinds[kind] ?? 0) + 1
  const tooks = (isFaulty: boolean): Spread =>
    spreadOf(changes.filter((one) => one.isFaulty === isFaulty).map(({ took }) => took))
  const { accepted, refused, unknown } = probes
  const { cache, store } = verifications
  return {
    ...of,
    node: process.version,
    changes: { all: changes.length, ...kinds },
    probes: { all: accepted + refused + unknown, ...probes },
    faults,
    verifications,
    hit_rate: cache / Math.max(1, cache + store),
    answer_ms: { calm: tooks(false), faulty: tooks(true) },
    repeats,
    zombies,
    invariants,
  }
}

export function printLine(line: FleetLine): string {
  const { changes, probes, verifications, answer_ms, zombies } = line
  const print = ({ n, p50, p90, p99, max }: Spread): string =>
    `n ${n}, p50 ${p50}, p90 ${p90}, p99 ${p99}, at most ${max} ms`
  return [
    `${line.daemons} daemons, ${line.seconds} s, seed ${line.seed}`,
    `changes: ${JSON.stringify(changes)}`,
    `probes: ${JSON.stringify(probes)}`,
    `faults: ${JSON.stringify(line.faults)}`,
    `hit rate ${(100 * line.hit_rate).toFixed(1)} % of ${verifications.cache + verifications.store} in ${Math.round(verifications.seconds)} s`,
    `answered without faults: ${print(answer_ms.calm)}`,
    `answered with faults: ${print(answer_ms.faulty)}`,
    `asked again: ${line.repeats}`,
    `zombies: ${JSON.stringify(zombies)}`,
    ...Object.entries(line.invariants).map(
      ([name, { checked, violated }]) =>
        `${name.padEnd(20)} ${checked} checked, ${violated} violated`,
    ),
    '',
  ].join('\n')
}
