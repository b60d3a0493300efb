/**
 * What the engine needs from the outside: time, randomness, a store and a sender.
 *
 * The engine reads no clock and opens no socket of its own, so the same code runs in production and
 * under a virtual clock with a faulty store.
 *
 * @module
 */
import type { WebhookHealth } from '../delivery/health.ts'
import type { SendResult, Verdict } from '../delivery/outcome.ts'
import type { Attempt, DeliveryState } from '../delivery/state.ts'
import type { KeyChain } from '../key/record.ts'
import type { Instant, Millis } from '../time.ts'
import type { WebhookRecord } from '../webhook/record.ts'
import type { Changes } from './changes.ts'

export interface Clock {
  /** What the calendar shows: it may be set, forward and back. */
  now(): Instant
  /** Milliseconds that never go back or jump, whatever becomes of the calendar. */
  steady(): Millis
  /**
   * Runs `run` once after `delay`; the answer cancels it.
   *
   * @param kind `background` does not keep the process alive
   */
  after(delay: Millis, run: () => void, kind?: 'background'): () => void
  /** Resolves once what has arrived by now was taken in; it waits for nothing else. */
  taken(): Promise<void>
}

export type RandomBytes = (length: number) => Uint8Array

/** An event as it is kept: its bytes are made once and sent unchanged for ever. */
export interface EventRecord {
  readonly id: string
  readonly account_id: string
  readonly app_id: string | null
  readonly type: string
  readonly created_at: Instant
  readonly body: Uint8Array
}

/** One event on its way to one webhook. */
export interface DeliveryRecord extends DeliveryState {
  readonly id: string
  readonly account_id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: string
  readonly app_id: string | null
  readonly created_at: Instant
  /** When it became final. */
  readonly done_at: Instant | null
  /** The fencing token of the claim under which it is being delivered. */
  readonly claim: string | null
}

/** An event to publish; `supplied` when its id came from the caller and so may have been seen before. */
export interface NewEvent extends EventRecord {
  readonly supplied: boolean
}

/** An event with the deliveries that are born with it. */
export interface Publication {
  readonly event: NewEvent
  readonly deliveries: readonly DeliveryRecord[]
}

/** `duplicate`: the same id and bytes are kept already. `conflict`: the same id with other bytes. */
export type PublishOutcome = 'stored' | 'duplicate' | 'conflict'

export interface ClaimedDelivery {
  readonly delivery: DeliveryRecord
  readonly body: Uint8Array
}

/** The earliest due work of one webhook, first attempts and retries apart. */
export interface LaneHead {
  readonly webhook_id: string
  readonly account_id: string
  /** Due time of its earliest first attempt; null when there is none. */
  readonly first_due: Instant | null
  readonly retry_due: Instant | null
}

export interface Claim {
  readonly lanes: readonly { readonly webhook_id: string; readonly limit: number }[]
  readonly now: Instant
  readonly lease_until: Instant
  /** First every claim of this process's own is put off to `lease_until`: the calendar was set forward. */
  readonly renews: boolean
  readonly token: string
}

export interface HeldClaim {
  readonly delivery_id: string
  readonly claim: string
}

export interface SettledAttempt extends HeldClaim {
  readonly webhook_id: string
  readonly verdict: Verdict
  readonly after: DeliveryState
  readonly done_at: Instant | null
  readonly attempt: Attempt
}

/** The health of a webhook that just failed. */
export interface FailedWebhook extends WebhookHealth {
  readonly webhook_id: string
  readonly account_id: string
}

/** What the engine changes together with other rows, inside one unit of work. */
export interface EngineTx {
  /** The webhooks of an account, disabled ones included, as this unit of work sees them. */
  webhooksOf(accountId: string): Promise<readonly WebhookRecord[]>
  insertPublished(group: readonly Publication[]): Promise<readonly PublishOutcome[]>
  /**
   * Disables a webhook and ends its pending deliveries: those that failed are exhausted, those never
   * tried are skipped. False, changing nothing, when it was not
   * active any more: of two callers one wins.
   */
  disableWebhook(
    id: string,
    reason: NonNullable<WebhookRecord['disabled_reason']>,
    now: Instant,
  ): Promise<boolean>
  /** Notes that `webhook.failing` was told. False when it was told before in this run of failures. */
  markFailing(id: string, now: Instant): Promise<boolean>
  /** Runs after the commit, before the caller of the unit of work goes on; never after a rollback. */
  afterCommit(run: () => void): void
}

export interface EngineStore {
  /** Every unit of work that changes what caches hold is told of here before it is answered. */
  readonly changes: Changes

  write<T>(work: (tx: EngineTx) => Promise<T>): Promise<T>

  /**
   * Commits a group of events with their deliveries, all or none, and answers per event.
   *
   * `build` is called when it is this group's turn to write, so that it takes in whatever has arrived
   * by then. A duplicate's deliveries are dropped.
   */
  publish(build: () => readonly Publication[]): Promise<readonly PublishOutcome[]>

  webhooksOf(accountId: string): Promise<readonly WebhookRecord[]>

  /** Begins every claim of this process. */
  readonly claimant: string
  /** Tells the dispatchers of other processes of work. */
  announce?(webhookIds: readonly string[]): void

  /**
   * Gives back claims of processes that are known to be gone, due now, and never this one's own. Answers
   * how many.
   */
  recover(now: Instant): Promise<number>
  /** The heads of every lane that holds work, or of the lanes named. */
  lanes(webhookIds?: readonly string[]): Promise<readonly LaneHead[]>
  /**
   * Leases due deliveries of the named lanes, first attempts before retries, oldest first.
   *
   * `ask` is called when it is this claim's turn to write, so that it reads the clock no sooner.
   *
   * Of concurrent callers each delivery is handed to exactly one; the others do not see it.
   */
  claim(ask: () => Claim): Promise<readonly ClaimedDelivery[]>
  /**
   * Hands claimed deliveries back unsent: due now, exhausted or skipped when their webhook is disabled, or canceled
   * when it was deleted. Those
   * that bear another claim are left alone.
   */
  release(claims: readonly HeldClaim[], now: Instant): Promise<void>
  /** Hands back, as `release` does, whatever a claim took: for one whose answer never came. */
  disclaim(claim: Claim, now: Instant): Promise<void>
  /**
   * Records outcomes, all or none, and what they tell of their webhooks' health, in their order. A
   * delivery that no longer bears the claim keeps its state, gets no attempt, and tells nothing; one that
   * would be tried again is exhausted when its webhook was disabled. The instants of the last success and
   * the last delivery may lag a second behind.
   *
   * Answers the health of the active webhooks of which failures that count, or a 410, were among them.
   */
  settle(attempts: readonly SettledAttempt[]): Promise<readonly FailedWebhook[]>
}

export interface KeyStore {
  /** The chain behind a hash, whatever its state; undefined when nobody holds that value. */
  findChain(hash: string): Promise<KeyChain | undefined>
}

export interface SendRequest {
  readonly url: string
  readonly method: 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly timeout: Millis
  readonly maxResponseBytes: number
}

export interface Sender {
  /** Never rejects. */
  send(request: SendRequest): Promise<SendResult>
}

/** What an attempt belongs to. */
export interface AttemptedDelivery {
  readonly delivery_id: string
  readonly webhook_id: string
  readonly account_id: string
  /** The delivery after the attempt. */
  readonly after: Pick<DeliveryState, 'status'>
}

/** Typed moments of the engine, for metrics and logs. What a listener throws changes nothing. */
export interface EngineEvents {
  /** A group was committed. */
  committed(events: number): void
  attempted(attempt: Attempt, of: AttemptedDelivery): void
  settled(attempts: number): void
  /** Outcomes could not be recorded; they wait in memory and are tried again. */
  settleFailed(waiting: number, cause: unknown): void
  /** Due deliveries could not be claimed, sent or handed back; they are tried again. */
  claimFailed(cause: unknown): void
  disabled(webhookId: string): void
  /** A webhook's health could not be acted on; its next failure tries again. */
  healthFailed(webhookId: string, cause: unknown): void
  /** One of these listeners threw. */
  listenerFailed(cause: unknown): void
}
