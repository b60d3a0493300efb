/**
 * Where every record is kept: one store, one unit of work.
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
import type { AppReads, AppWrites } from './contract/apps.ts'
import type { DeliveryReads, DeliveryWrites } from './contract/deliveries.ts'
import type { DomainReads, DomainWrites } from './contract/domains.ts'
import type { DeploymentReads, DeploymentWrites } from './contract/deployments.ts'
import type { EditReads, EditWrites } from './contract/edits.ts'
import type { EventReads, EventWrites } from './contract/events.ts'
import type { FileReads, FileWrites } from './contract/files.ts'
import type { KeyReads, KeyWrites } from './contract/keys.ts'
import type { ObservationReads, ObservationWrites } from './contract/observations.ts'
import type { RequestReads, RequestWrites } from './contract/requests.ts'
import type { SealReads, SealWrites } from './contract/seals.ts'
import type { ServiceReads, ServiceWrites } from './contract/services.ts'
import type { SignInReads, SignInWrites } from './contract/sign-in.ts'
import type { WebhookReads, WebhookWrites } from './contract/webhooks.ts'

/**
 * What is kept for a while alone, in the order in which it must go: an attempt before its delivery, a
 * delivery before its event.
 *
 * Deliveries and attempts are as old as the event, whatever their state; secrets, sessions and answers
 * to idempotent requests count from when they ended, problems from when they were last seen, observers
 * from what they last wrote. A key goes, with its secrets, once it and everything of its line that ended
 * ended before the instant, unless a key below it is left or a webhook names it. Of deployments those go that failed or were canceled, with their lines, but
 * never the last of their app; aliases that were given up, once they are not kept any more. A line whose
 * instant the newest one has not reached, of a clock that was ahead, goes before those that were added
 * after it.
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
  'access_lines',
  'checks',
  'problems',
  'observers',
  'deployments',
  'left_aliases',
] as const

export type PurgeKind = (typeof PURGE_KINDS)[number]

/** One unit of work: everything done through it commits or rolls back together. */
export interface StoreTx extends EngineTx {
  readonly accounts: AccountWrites
  readonly apps: AppWrites
  readonly deployments: DeploymentWrites
  readonly edits: EditWrites
  readonly files: FileWrites
  readonly keys: KeyWrites
  readonly webhooks: WebhookWrites
  readonly events: EventWrites
  readonly deliveries: DeliveryWrites
  readonly observations: ObservationWrites
  readonly requests: RequestWrites
  readonly seals: SealWrites
  readonly domains: DomainWrites
  readonly services: ServiceWrites
  readonly signIn: SignInWrites
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
  readonly apps: AppReads
  readonly deployments: DeploymentReads
  readonly edits: EditReads
  readonly files: FileReads
  readonly keys: KeyReads
  readonly webhooks: WebhookReads
  readonly events: EventReads
  readonly deliveries: DeliveryReads
  readonly observations: ObservationReads
  readonly requests: RequestReads
  readonly seals: SealReads
  readonly domains: DomainReads
  readonly services: ServiceReads
  readonly signIn: SignInReads

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
