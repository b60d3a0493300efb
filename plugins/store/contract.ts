/**
 * The core store: accounts, keys, webhooks, events, deliveries and what protects them, in one unit of work.
 *
 * What changes together commits together: state, outbox event, idempotency record and audit row.
 * Methods are atomic verbs; each says who wins a race and what the loser sees. An implementation
 * proves itself with `conformance`.
 *
 * @module
 */
import type { EngineStore, EngineTx } from '../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import type { AccountReads, AccountWrites } from './contract/accounts.ts'
import type { DeliveryReads, DeliveryWrites } from './contract/deliveries.ts'
import type { EventReads, EventWrites } from './contract/events.ts'
import type { KeyReads, KeyWrites } from './contract/keys.ts'
import type { RequestReads, RequestWrites } from './contract/requests.ts'
import type { SealReads, SealWrites } from './contract/seals.ts'
import type { WebhookReads, WebhookWrites } from './contract/webhooks.ts'

/**
 * Rows that expire, in the order in which they must be deleted: an attempt before its delivery, a delivery
 * before its event.
 *
 * Deliveries and attempts are as old as their event, whatever their state; secrets, sessions and idempotency
 * records count from their end. A key is deleted, with its secrets, once it and every key below it ended
 * before the instant, unless a key below it is left or a webhook names it.
 */
export const PURGE_KINDS = [
  'attempts',
  'deliveries',
  'events',
  'idempotency',
  'sessions',
  'key_secrets',
  'keys',
  'webhook_secrets',
  'audit',
] as const

export type PurgeKind = (typeof PURGE_KINDS)[number]

/** One unit of work: everything done through it commits or rolls back together. */
export interface StoreTx extends EngineTx {
  readonly accounts: AccountWrites
  readonly keys: KeyWrites
  readonly webhooks: WebhookWrites
  readonly events: EventWrites
  readonly deliveries: DeliveryWrites
  readonly requests: RequestWrites
  readonly seals: SealWrites
}

/** A unit of work inside a transaction that somebody else began and will end. */
export interface JoinedUnit {
  readonly tx: StoreTx
  /**
   * Runs what waits for the commit. For whoever ends the transaction to call, right after it committed:
   * a connection does not tell. Where nobody calls it, only `watch` hears of the commit.
   */
  committed(): void
}

export interface Store extends Omit<EngineStore, 'write'> {
  readonly accounts: AccountReads
  readonly keys: KeyReads
  readonly webhooks: WebhookReads
  readonly events: EventReads
  readonly deliveries: DeliveryReads
  readonly requests: RequestReads
  readonly seals: SealReads

  /**
   * Runs `work` as one unit: commits when it resolves, rolls back when it rejects.
   *
   * Units are as if one after another. Keep them short: no network, no password hashing inside.
   *
   * @throws KeyhookError `unavailable` when it cannot be known whether it committed
   */
  write<T>(work: (tx: StoreTx) => Promise<T>): Promise<T>

  /**
   * Deletes up to `limit` of the oldest rows of one kind from before an instant, and answers how many:
   * fewer than `limit` when no more are left.
   */
  purge(kind: PurgeKind, before: Instant, limit: number): Promise<number>

  /**
   * Joins a transaction of the embedder's own: what is done through it commits and rolls back with
   * that, on that very connection.
   *
   * It is not one of the units that run one after another. What it reads may change before it commits;
   * a deed that races with it either waits for it or does not see it, so an id that it publishes makes
   * another publisher of that id wait until it ends. It holds nothing of `write`, and must not wait
   * for `write`: on a database with one writer that would wait for itself.
   *
   * A unit is one transaction's: the next one on the same connection is joined anew.
   *
   * @param transaction a raw connection on which one is open, or a transaction of Sequelize
   * @throws TypeError for anything else
   */
  join?(transaction: unknown): JoinedUnit

  /**
   * Calls `listener` when another process announced work, after a commit of a joined unit, and whenever
   * one may have gone unheard, such as after a reconnect; never for what rolled back. Calls may be more
   * than commits: whoever is called reads anew, the lanes named or all of them. The answer ends it.
   */
  watch?(listener: (webhookIds?: readonly string[]) => void): () => void

  /**
   * Gives `work` the one writer's turn: until it ends, nothing of this process writes, so that a
   * transaction of the embedder's own can.
   *
   * After `maxAge` it is given up: `aged` aborts, for the work to roll back, and others write again.
   *
   * @throws KeyhookError `unavailable` when it took longer
   */
  hold?<T>(
    work: (aged: AbortSignal) => Promise<T>,
    options: { readonly maxAge: Millis },
  ): Promise<T>

  /** Resolves when the store can write; rejects when it cannot. */
  ping(): Promise<void>
  close(): Promise<void>

  /**
   * Several processes may share this store. Default `false`: the daemon then refuses to split its roles.
   * A change of what caches hold is then known to every process, or those that do not answer can no
   * longer go by what they keep, before `write` resolves.
   */
  readonly manyProcesses?: boolean

  /**
   * Calls `listener` when a change was answered only because others could no longer go by what they
   * keep: with the processes that did not acknowledge it.
   */
  onSilence?(listener: (processes: readonly string[]) => void): void

  /** The time that all processes of the store go by. Default: this machine's. */
  now?(): Instant
}
