import type { DatabaseName } from './database.ts'
import type { Row } from './ledger.ts'
import type { RunResult } from './run.ts'

/** One run as a line of a results file. */
export interface CrashLine {
  readonly commit: string
  readonly node: string
  readonly db: DatabaseName
  readonly daemons: number
  readonly seed: string
  readonly seconds: number
  readonly kills: Readonly<
    Record<'total' | 'failpoint' | 'random' | 'boot' | 'term' | 'server', number>
  >
  readonly failpoints: {
    readonly covered: number
    readonly all: number
    readonly missed: readonly string[]
  }
  readonly events: number
  readonly deliveries: number
  readonly arrivals: number
  readonly repeated: number
  readonly late_ms: { readonly p50: number; readonly p99: number; readonly max: number }
  readonly invariants: Readonly<Record<string, Row>>
}

export function toLine(
  { kills, reached, missed, ledger, totals, seconds }: RunResult,
  of: {
    readonly database: DatabaseName
    readonly daemons: number
    readonly seed: string
    readonly commit: string
  },
): CrashLine {
  const late = [...totals.late].sort((a, b) => a - b)
  const at = (share: number): number => Math.round(late[Math.floor(share * (late.length - 1))] ?? 0)
  return {
    commit: of.commit,
    node: process.version,
    db: of.database,
    daemons: of.daemons,
    seed: of.seed,
    seconds: Math.round(seconds),
    kills: { total: Object.values(kills).reduce((sum, count) => sum + count, 0), ...kills },
    failpoints: { covered: reached.length, all: reached.length + missed.length, missed },
    events: totals.events,
    deliveries: totals.deliveries,
    arrivals: totals.arrivals,
    repeated: totals.repeated,
    late_ms: { p50: at(0.5), p99: at(0.99), max: at(1) },
    invariants: ledger.rows,
  }
}
