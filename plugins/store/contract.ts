/**
 * The core store: accounts, keys, webhooks, events, deliveries, idempotency records, audit and encrypted
 * secrets, in one unit of work.
 *
 * State, outbox event, idempotency record and audit row commit together. Methods are atomic; each
 * documents who wins a race and what the loser sees. Verify an implementation with `conformance`.
 *
 * @module
 */
import type { EngineStore, EngineTx, WriteOptions } from '../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import type { AccountReads, AccountWrites } from './contract/accounts.ts'
import type { DeliveryReads, DeliveryWrites } from './contract/deliveries.ts'
import type { EventReads, EventWrites } from './contract/events.ts'
import type { KeyReads, KeyWrites } from './contract/keys.ts'
import type { RequestReads, RequestWrites } from './contract/requests.ts'
import type { EncryptedSecretReads, EncryptedSecretWrites } from './contract/encrypted-secrets.ts'
import type { WebhookReads, WebhookWrites } from './contract/webhooks.ts'

/**
 * Kinds of rows that expire, in the order in which they must be deleted: an attempt before its delivery, a
 * delivery before its event.
 *
 * The age of deliveries and attempts is that of their event, whatever their state. The age of secrets,
 * sessions and idempotency records counts from their end. A key is deleted, with its secrets, once it and
 * every key below it ended before the instant, unless a key below it is left or a webhook names it.
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
  readonly encryptedSecrets: EncryptedSecretWrites
}

/** A unit of work inside a transaction that the embedder began and will end. */
export interface JoinedUnit<Tx = StoreTx> {
  readonly tx: Tx
  /**
   * Runs the `afterCommit` functions. Call it right after the commit, which the store cannot observe.
   * Otherwise only `watch` reports the commit.
   */
  committed(): void
}

/** Use of a store's connections at this moment. */
export interface ConnectionUse {
  readonly busy: number
  readonly idle: number
  /** Calls that wait for a connection. */
  readonly waiting: number
  /** Maximum connections. */
  readonly most: number
}

export interface Store extends Omit<EngineStore, 'write'> {
  readonly accounts: AccountReads
  readonly keys: KeyReads
  readonly webhooks: WebhookReads
  readonly events: EventReads
  readonly deliveries: DeliveryReads
  readonly requests: RequestReads
  readonly encryptedSecrets: EncryptedSecretReads

  /**
   * Runs `work` as one unit: commits when it resolves, rolls back when it rejects.
   *
   * Units are serializable. Keep them short: no network, no password hashing inside.
   *
   * @throws KeyhookError `unavailable` when it cannot be known whether it committed
   */
  write<T>(work: (tx: StoreTx) => Promise<T>, options?: WriteOptions): Promise<T>

  /**
   * Deletes up to `limit` of the oldest rows of one kind from before an instant. Returns their number:
   * fewer than `limit` when no more are left.
   */
  purge(kind: PurgeKind, before: Instant, limit: number): Promise<number>

  /**
   * Joins a transaction of the embedder: the unit uses its connection, commits and rolls back with it.
   *
   * A joined unit is not serialized with the units of `write`. Its reads may change before it commits. A
   * concurrent change waits for it or does not see it: a publisher of the same event id waits until it
   * ends. It must not wait for `write`: on a database with one writer that is a deadlock.
   *
   * Join every transaction separately, also on the same connection.
   *
   * @param transaction a raw connection on which one is open, or a transaction of Sequelize
   * @throws TypeError for anything else
   */
  join?(transaction: unknown): JoinedUnit

  /**
   * Calls `listener` when another process announced work, after the commit of a joined unit, and when a
   * notification may have been lost, such as after a reconnect; never after a rollback. There may be more
   * calls than commits. The listener reads the named queues again, or all. The returned function removes
   * it.
   */
  watch?(listener: (webhookIds?: readonly string[]) => void): () => void

  /**
   * Runs `work` while nothing else in this process writes, so that a transaction of the embedder can, on a
   * database with one writer.
   *
   * After `maxAge` the signal `aged` aborts, so that the work rolls back, and other writes continue.
   *
   * @throws KeyhookError `unavailable` when the work took longer
   */
  hold?<T>(
    work: (aged: AbortSignal) => Promise<T>,
    options: { readonly maxAge: Millis },
  ): Promise<T>

  /** Resolves when the store can write; rejects when it cannot. */
  ping(): Promise<void>
  close(): Promise<void>

  /**
   * Whether several processes may share this store. Default `false`: the daemon then refuses to split its
   * roles. If true, a change of cached data is applied only after every process has acknowledged it or its
   * cache lease expired.
   */
  readonly manyProcesses?: boolean

  /**
   * Calls `listener` with the ids of processes that did not acknowledge a change before their cache leases
   * expired.
   */
  onSilence?(listener: (processes: readonly string[]) => void): void

  /** The clock shared by all processes of the store. Default: the clock of this machine. */
  now?(): Instant
}
