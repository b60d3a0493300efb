/**
 * Ports of the engine: time, randomness, a store and a sender.
 *
 * The engine reads no clock and opens no socket itself, so that the same code runs in production and in
 * a simulation with a virtual clock and a faulty store.
 *
 * @module
 */
import type { WebhookHealth } from '../delivery/health.ts'
import type { SendResult, Verdict } from '../delivery/outcome.ts'
import type { Attempt, DeliveryState } from '../delivery/state.ts'
import type { KeyChain } from '../key/record.ts'
import type { Instant, Millis } from '../time.ts'
import { SECOND } from '../time.ts'
import type { WebhookRecord } from '../webhook/record.ts'
import type { Changes } from './changes.ts'

export interface Clock {
  /** Wall clock: it may be set forward and back. */
  now(): Instant
  /** Monotonic clock: milliseconds since an arbitrary point; never goes back or jumps. */
  steady(): Millis
  /**
   * Runs `run` once after `delay`. The returned function cancels it.
   *
   * @param kind `background` does not keep the process alive
   */
  after(delay: Millis, run: () => void, kind?: 'background'): () => void
  /** Resolves once all input that has arrived by now was processed; it waits for nothing else. */
  taken(): Promise<void>
}

/** Default of a claim's lease beyond the timeout: the time to record outcomes before others take over. */
export const LEASE_MARGIN: Millis = 20 * SECOND

export type RandomBytes = (length: number) => Uint8Array

/** A stored event. Its body is serialized once and sent unchanged in every attempt. */
export interface EventRecord {
  readonly id: string
  readonly account_id: string
  readonly app_id: string | null
  readonly type: string
  readonly created_at: Instant
  readonly body: Uint8Array
}

/** A delivery: one event for one webhook. */
export interface DeliveryRecord extends DeliveryState {
  readonly id: string
  readonly account_id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: string
  readonly app_id: string | null
  readonly created_at: Instant
  /** When it became final; null before. */
  readonly done_at: Instant | null
  /** Fencing token of the claim that is delivering it; null when there is none. */
  readonly claim: string | null
}

/** An event to publish. `supplied`: its id came from the caller, so it may already be stored. */
export interface NewEvent extends EventRecord {
  readonly supplied: boolean
  /** W3C context of the span that published it; undefined for none. */
  readonly traceparent?: string | undefined
}

/** An event with the deliveries that are created with it. */
export interface Publication {
  readonly event: NewEvent
  readonly deliveries: readonly DeliveryRecord[]
}

/** `duplicate`: the same event is already stored. `conflict`: another event with the same id is stored. */
export type PublishOutcome = 'stored' | 'duplicate' | 'conflict'

export interface ClaimedDelivery {
  readonly delivery: DeliveryRecord
  readonly body: Uint8Array
  /** The context of its event; undefined for none. */
  readonly traceparent?: string | undefined
}

/** The earliest due times of one webhook's queue, separately for first attempts and retries. */
export interface QueueHead {
  readonly webhook_id: string
  readonly account_id: string
  /** Due time of the earliest first attempt; null when there is none. */
  readonly first_due: Instant | null
  readonly retry_due: Instant | null
}

export interface Claim {
  readonly queues: readonly { readonly webhook_id: string; readonly limit: number }[]
  readonly now: Instant
  readonly lease_until: Instant
  /** Extends all claims of this process to `lease_until` first, since the wall clock was set forward. */
  readonly renews: boolean
  readonly token: string
}

export interface DeliveryClaim {
  readonly delivery_id: string
  readonly claim: string
}

export interface SettledAttempt extends DeliveryClaim {
  readonly webhook_id: string
  readonly verdict: Verdict
  readonly after: DeliveryState
  readonly done_at: Instant | null
  readonly attempt: Attempt
}

/** The health of a webhook after a failure. */
export interface FailedWebhook extends WebhookHealth {
  readonly webhook_id: string
  readonly account_id: string
}

/** The engine's part of a unit of work, which other rows may share. */
export interface EngineTx {
  /** The webhooks of an account, including disabled ones, as this unit of work sees them. */
  webhooksOf(accountId: string): Promise<readonly WebhookRecord[]>
  insertPublished(group: readonly Publication[]): Promise<readonly PublishOutcome[]>
  /**
   * Disables a webhook and ends its pending deliveries: those with a failed attempt are exhausted, the
   * others are skipped. False, changing nothing, when it was no longer active: of two callers one wins.
   */
  disableWebhook(
    id: string,
    reason: NonNullable<WebhookRecord['disabled_reason']>,
    now: Instant,
  ): Promise<boolean>
  /** Records that `webhook.failing` is published. False when it already was in this run of failures. */
  markFailing(id: string, now: Instant): Promise<boolean>
  /** Runs after the commit and before the unit of work resolves; never after a rollback. */
  afterCommit(run: () => void): void
}

export interface WriteOptions {
  /**
   * Called once the unit is committed: the promise resolves when all who cache what it changed have the change,
   * or may no longer use what they cached. `write` then resolves without waiting for that. Default: it waits.
   */
  whenApplied?(applied: Promise<void>): void
}

export interface EngineStore {
  /** Emits every change of cached data before the unit of work that made it resolves. */
  readonly changes: Changes

  write<T>(work: (tx: EngineTx) => Promise<T>, options?: WriteOptions): Promise<T>

  /**
   * Commits a group of events with their deliveries, all or none, and returns one outcome per event.
   *
   * Calls `build` when it is this group's turn to write, so that the group contains everything that has
   * arrived by then. Drops the deliveries of duplicates.
   */
  publish(build: () => readonly Publication[]): Promise<readonly PublishOutcome[]>

  webhooksOf(accountId: string): Promise<readonly WebhookRecord[]>

  /** Prefix of every claim token of this process. */
  readonly claimant: string
  /** Notifies the dispatchers of other processes of available work. */
  announce?(webhookIds: readonly string[]): void

  /**
   * Releases the claims of processes that are known to have ended, due now; never those of this process.
   * Returns their number.
   */
  recover(now: Instant): Promise<number>
  /** The heads of all queues that contain work, or of the named ones. */
  queueHeads(webhookIds?: readonly string[]): Promise<readonly QueueHead[]>
  /**
   * Leases due deliveries of the named queues, first attempts before retries, oldest first.
   *
   * Calls `build` when it is this claim's turn to write, so that the claim reads the clock no sooner.
   *
   * Under concurrent callers each delivery goes to exactly one; the others do not see it.
   */
  claim(ask: () => Claim): Promise<readonly ClaimedDelivery[]>
  /**
   * Releases claimed deliveries unsent: due now, exhausted or skipped when their webhook is disabled, or
   * canceled when it was deleted. Ignores deliveries that have another claim.
   */
  release(claims: readonly DeliveryClaim[], now: Instant): Promise<void>
  /** Releases everything that a claim leased, for a claim whose response was lost. See `release`. */
  disclaim(claim: Claim, now: Instant): Promise<void>
  /**
   * Records outcomes and updates the health of their webhooks, in order, all or none.
   *
   * Ignores a delivery that no longer has the claim: no state, attempt or health changes. Exhausts a
   * delivery that would be retried when its webhook is disabled. `last_success_at` and
   * `last_delivery_at` may lag by a second.
   *
   * Returns the health of the active webhooks that had a counted failure or a 410.
   */
  settle(attempts: readonly SettledAttempt[]): Promise<readonly FailedWebhook[]>
}

export interface KeyStore {
  /** The chain of the value with a hash, whatever its state; undefined for an unknown hash. */
  findChain(hash: string): Promise<KeyChain | undefined>
}

export interface SendRequest {
  readonly url: string
  readonly method: 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly timeout: Millis
  readonly maxResponseBytes: number
  readonly delivery: Pick<
    DeliveryRecord,
    'id' | 'account_id' | 'webhook_id' | 'event_id' | 'event_type'
  >
}

export interface Sender {
  /** Never rejects. */
  send(request: SendRequest): Promise<SendResult>
}

/** The delivery of an attempt. */
export interface AttemptedDelivery {
  readonly delivery_id: string
  readonly webhook_id: string
  readonly account_id: string
  /** When its event was accepted. */
  readonly created_at: Instant
  /** End of the lease under which the attempt was made. */
  readonly lease_until: Instant | null
  /** The delivery after the attempt. */
  readonly after: Pick<DeliveryState, 'status'>
}

/** Events of the engine, for metrics and logs. An error that a listener throws has no other effect. */
export interface EngineEvents {
  /** A group was committed. */
  committed(events: number): void
  attempted(attempt: Attempt, of: AttemptedDelivery): void
  settled(attempts: number): void
  /** Outcomes could not be recorded; they stay in memory and are retried. */
  settleFailed(waiting: number, cause: unknown): void
  /** Due deliveries could not be claimed, sent or released; this is retried. */
  claimFailed(cause: unknown): void
  disabled(webhookId: string): void
  /** The health of a webhook could not be judged; the next failure retries it. */
  healthFailed(webhookId: string, cause: unknown): void
  /** A listener threw. */
  listenerFailed(cause: unknown): void
}
