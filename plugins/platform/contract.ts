/**
 * The platform store: apps and what belongs to them, beside the core store in the same database.
 *
 * It is an embedder of the core: what it changes commits in the core's unit of work, together with the
 * events, audit rows and idempotency records of that unit.
 *
 * @module
 */
import type { WriteOptions } from '../../lib/engine/ports.ts'
import type { Instant } from '../../lib/time.ts'
import type { JoinedUnit, PurgeKind, Store, StoreTx } from '../store/contract.ts'
import type { StoreMeasures } from '../store/sql/store.ts'
import { PURGE_KINDS } from '../store/contract.ts'
import type { RecordAccess } from './contract/records.ts'
import type { NOUNS } from './nouns.ts'

type Nouns = typeof NOUNS

/** The records of every noun, as they are read. */
export type PlatformReads = { readonly [Name in keyof Nouns]: ReturnType<Nouns[Name]['reads']> }

/** The records of every noun, as they are read and changed in a unit of work. */
export type PlatformWrites = { readonly [Name in keyof Nouns]: ReturnType<Nouns[Name]['writes']> }

/** One unit of work over the core and the platform. */
export interface PlatformTx extends StoreTx, PlatformWrites, RecordAccess {
  /**
   * Runs a part of the unit: what it did is undone when it fails, and the unit may go on. A refusal, such as
   * `insufficient_balance`, undoes nothing.
   */
  atomically<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Rows of the platform that expire, in the order in which they must be deleted.
 *
 * Error groups count from when they were last seen, observers from their last write. Of deployments those
 * that failed or were canceled expire, with their lines, but never the last one of their app; aliases that
 * were given up expire when they are no longer reserved. A line of a clock that was ahead, whose instant
 * the newest line has not reached, is deleted before those that were added after it. Events of a payment
 * processor expire once they were applied or left; checkouts unless they were completed. Passages and vectors
 * of deleted files expire whatever the instant: no search finds them any more. Tasks of agents expire with
 * their messages: work that is under way for so long has been lost.
 */
export const PLATFORM_PURGE_KINDS = [
  'access_lines',
  'checks',
  'problems',
  'observers',
  'deployments',
  'left_aliases',
  'processor_events',
  'checkouts',
  'removed_files',
  'agent_tasks',
  'portal_sessions',
] as const

export type PlatformPurgeKind = (typeof PLATFORM_PURGE_KINDS)[number]

export const ALL_PURGE_KINDS: readonly (PurgeKind | PlatformPurgeKind)[] = [
  ...PURGE_KINDS,
  ...PLATFORM_PURGE_KINDS,
]

export interface PlatformStore
  extends Omit<Store, 'write' | 'purge' | 'join'>, StoreMeasures, PlatformReads, RecordAccess {
  /** As the core's, with the platform's nouns in the same unit. */
  write<T>(work: (tx: PlatformTx) => Promise<T>, options?: WriteOptions): Promise<T>
  /** As the core's. */
  purge(kind: PurgeKind | PlatformPurgeKind, before: Instant, limit: number): Promise<number>
  /** As the core's, with the platform's nouns in the same unit. */
  join?(transaction: unknown): JoinedUnit<PlatformTx>
}
