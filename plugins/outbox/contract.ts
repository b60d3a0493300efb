/**
 * The outbox of a backend: a table of its own database, into which its transactions insert events.
 *
 * @module
 */
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'

/** A waiting row of the outbox. Its texts are not checked. */
export interface OutboxRow {
  /** Order in which the rows were inserted, a number. */
  readonly position: string
  /** Id of the event: the row's own `id`, or the one that the table generated. */
  readonly id: string
  readonly account_id: string
  readonly app_id: string | null
  readonly type: string
  /** JSON text; undefined when it is larger than an event can be. */
  readonly data: string | undefined
  /** Bytes of `data`. */
  readonly bytes: number
}

/** What becomes of a row: `published` deletes it, `waits` leaves it as it is, a refusal keeps it with the reason. */
export type RowOutcome = 'published' | 'waits' | RowRefusal

export interface RowRefusal {
  readonly code: string
  /** For the developer of the backend. */
  readonly reason: string
}

/**
 * Publishes rows and returns an outcome for each, in their order. It must tolerate a row that it published
 * before: a crash may prevent its deletion.
 */
export type PublishRows = (rows: readonly OutboxRow[]) => Promise<readonly RowOutcome[]>

/** An open connection to an outbox. After an error it is closed and opened again. */
export interface OutboxSource {
  /**
   * Passes waiting rows, those of the lowest positions first, to `publish`, and records their outcomes.
   * There is no cursor: a transaction that commits late is not missed.
   *
   * @param except accounts whose rows are left out
   * @returns the number of rows that were passed: 0 also while another process takes rows
   */
  take(publish: PublishRows, except: readonly string[]): Promise<number>
  /** Resolves when rows may have been committed since the last `take`, or when the signal aborts. */
  available(signal: AbortSignal): Promise<void>
  /**
   * Counts rows, up to `MAX_COUNTED` of each.
   *
   * @throws Error that names the remedy when the table cannot be used
   */
  count(): Promise<OutboxCounts>
  close(): Promise<void>
}

export interface OutboxCounts {
  readonly waiting: number
  readonly refused: number
}

export interface OutboxLimits {
  /** Maximum rows of one `take`. Default 256. */
  readonly rows: number
  /** Maximum bytes of their data, unless the first row alone is larger. Default 2 MiB. */
  readonly bytes: number
  /** Data of more bytes is not read. Default 262,144: as large as an event can be. */
  readonly rowBytes: number
  /** Interval of looking for rows: on PostgreSQL in addition to notifications. Default 1 s; SQLite 250 ms. */
  readonly poll: Millis
}

export const DEFAULT_LIMITS: OutboxLimits = {
  rows: 256,
  bytes: 2 * 1_048_576,
  rowBytes: 262_144,
  poll: SECOND,
}

/** Counting more would read a large table. */
export const MAX_COUNTED = 1000

/** Version of the table that this release reads. */
export const OUTBOX_VERSION = 1

/** Characters that are read of an id or a type: one more than each may have, so that a longer one is refused. */
export const MAX_TEXT = 101

/** The first rows whose data fits; at least one. Data that is too large for an event is not read. */
export function fitting<Row extends { readonly bytes: number }>(
  rows: readonly Row[],
  { bytes: most, rowBytes }: OutboxLimits,
): readonly Row[] {
  let bytes = 0
  const end = rows.findIndex((row, index) => {
    if (row.bytes <= rowBytes) bytes += row.bytes
    return index > 0 && bytes > most
  })
  return end === -1 ? rows : rows.slice(0, end)
}

/** The outcomes, sorted by what they do to the rows. */
export function sortOutcomes(
  rows: readonly OutboxRow[],
  outcomes: readonly RowOutcome[],
): {
  readonly published: readonly OutboxRow[]
  readonly refused: readonly (OutboxRow & RowRefusal)[]
} {
  const refused = rows.flatMap((row, index) => {
    const outcome = outcomes[index]
    return typeof outcome === 'object' ? [{ ...row, ...outcome }] : []
  })
  return { published: rows.filter((_, index) => outcomes[index] === 'published'), refused }
}
