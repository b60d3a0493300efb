import type { Attempt, DeliveryStatus } from '../../../lib/delivery/state.ts'
import type { DeliveryRecord, EventRecord } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Page, SizedPageQuery } from './page.ts'

export interface DeliveryListQuery extends SizedPageQuery {
  readonly account_id: string
  readonly webhook_id: string
  readonly status: DeliveryStatus | null
  readonly event_type: string | null
  readonly event_id: string | null
  /** Only deliveries of these apps. */
  readonly apps: readonly string[] | null
}

/**
 * Deliveries of a webhook that ended without success, of events between two instants, except those with
 * `MOST_ATTEMPTS` attempts.
 */
export interface FailedQuery {
  readonly account_id: string
  readonly webhook_id: string
  readonly since: Instant
  readonly until: Instant
  /** Only deliveries of these apps. */
  readonly apps: readonly string[] | null
  /** Only deliveries of events of these types. */
  readonly types: readonly string[] | null
}

/** The start of a step through failed deliveries. */
export interface FailedStep extends FailedQuery {
  /** The `next` of the step before; null for the first one. */
  readonly after: string | null
}

/** One step through many rows, bounded so that it holds a connection only briefly. */
export interface Step {
  /** Where the next step begins; null after the last one. */
  readonly next: string | null
}

/** The event types and apps that a caller may receive; null for no limit. */
export interface DeliveryLimits {
  readonly types: readonly string[] | null
  /** An event without an app is outside any list of apps. */
  readonly apps: readonly string[] | null
}

/** Statuses to which a bulk retry applies. */
export const FAILED_STATUSES: readonly DeliveryStatus[] = ['exhausted', 'blocked', 'skipped']

/** Maximum attempts of a delivery: its attempts are read as one record, so further retries are refused. */
export const MOST_ATTEMPTS = 100

/** A delivery with its attempts, first to last. */
export interface InspectedDelivery {
  readonly delivery: DeliveryRecord
  readonly attempts: readonly Attempt[]
}

export interface DeliveryReads {
  get(accountId: string, webhookId: string, id: string): Promise<InspectedDelivery | undefined>
  /** @param most deliveries that a page looks at; default `MOST_LOOKED_AT` */
  list(query: DeliveryListQuery, most?: number): Promise<Page<InspectedDelivery>>
  /**
   * One step of a count, oldest first, starting after the id `after`.
   *
   * @param most failed deliveries that a step looks at; default `MOST_LOOKED_AT`
   */
  countFailed(query: FailedStep, most?: number): Promise<Step & { readonly count: number }>
  /** Whether the webhook has an unfinished delivery outside these limits. */
  hasUnfinishedBeyond(webhookId: string, limits: DeliveryLimits): Promise<boolean>
  /**
   * One step of finding the deliveries of events to a webhook, oldest first, starting after the id `after`.
   *
   * Ids of deliveries are UUIDv7 of at most an hour after their event, or of its exact instant.
   *
   * @param most deliveries that a step looks at; default `MOST_LOOKED_AT`
   */
  ofEvents(
    webhookId: string,
    events: readonly Pick<EventRecord, 'id' | 'created_at'>[],
    after: string | null,
    most?: number,
  ): Promise<Step & { readonly deliveries: readonly DeliveryRecord[] }>
}

export interface DeliveryWrites extends DeliveryReads {
  /**
   * Makes a final delivery pending for one manual attempt. False, changing nothing, when it is not
   * final or has had `MOST_ATTEMPTS`: of two callers one wins.
   */
  requestRetry(id: string, now: Instant): Promise<boolean>
  /**
   * One step of making failed deliveries pending, due now behind first attempts, oldest first, starting
   * after the id `after`. Returns the ids of those that were, at most `limit`.
   *
   * @param most failed deliveries that a step looks at; default `MOST_LOOKED_AT`
   */
  requestRetries(
    query: FailedStep & { readonly limit: number },
    now: Instant,
    most?: number,
  ): Promise<Step & { readonly ids: readonly string[] }>
  /** Inserts deliveries, except those whose ids exist. Returns the number of inserted ones. */
  insertReplayed(deliveries: readonly DeliveryRecord[]): Promise<number>
}
