import type { Jumps } from './clock/jumps.ts'
import type { DatabaseName } from './database.ts'
import type { FullDisk } from './full-disk.ts'
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
  /** Of a clock that jumped: how often, how far, and how many attempts are not judged by it. */
  readonly jumps?: {
    readonly serving: number
    readonly between: number
    readonly ahead_s: number
    readonly behind_s: number
    readonly unplaced: number
  }
  readonly late_ms: { readonly p50: number; readonly p99: number; readonly max: number }
  readonly invariants: Readonly<Record<string, Row>>
}

/** One run on a disk that was full, as a line of the same file. */
export interface DiskLine extends Omit<FullDisk, 'faults'> {
  readonly harness: 'disk-full'
  readonly commit: string
  readonly node: string
  readonly disk_mib: number
  readonly faults: number
}

export function toLine(
  { kills, reached, missed, ledger, totals, jumps, seconds }: RunResult,
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
    ...(jumps && { jumps: toJumps(jumps, totals.unplaced) }),
    late_ms: { p50: at(0.5), p99: at(0.99), max: at(1) },
    invariants: ledger.rows,
  }
}

function toJumps(
  { serving, between, ahead, behind }: Jumps,
  unplaced: number,
): NonNullable<CrashLine['jumps']> {
  return {
    serving,
    between,
    ahead_s: Math.round(ahead / 1000),
    behind_s: Math.round(behind / 1000),
    unplaced,
  }
}
