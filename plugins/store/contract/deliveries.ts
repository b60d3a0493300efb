import type { Attempt, DeliveryStatus } from '../../../lib/delivery/state.ts'
import type { DeliveryRecord } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from './page.ts'

export interface DeliveryListQuery extends PageQuery {
  readonly account_id: string
  readonly webhook_id: string
  readonly status: DeliveryStatus | null
  readonly event_type: string | null
  readonly event_id: string | null
  /** Only deliveries of these apps. */
  readonly apps: readonly string[] | null
}

/** A delivery with its attempts, first to last. */
export interface InspectedDelivery {
  readonly delivery: DeliveryRecord
  readonly attempts: readonly Attempt[]
}

export interface DeliveryReads {
  get(accountId: string, webhookId: string, id: string): Promise<InspectedDelivery | undefined>
  list(query: DeliveryListQuery): Promise<Page<InspectedDelivery>>
}

export interface DeliveryWrites extends DeliveryReads {
  /**
   * Makes a final delivery pending for one manual attempt. False, changing nothing, when it is not
   * final: of two callers one wins.
   */
  requestRetry(id: string, now: Instant): Promise<boolean>
}
