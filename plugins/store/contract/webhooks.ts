import type { Creator } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import type {
  EncryptedHeaders,
  EncryptedSecret,
  WebhookRecord,
} from '../../../lib/webhook/record.ts'
import type { Page, SizedPageQuery } from './page.ts'

/** As `SizedPageQuery`; the bytes are those of events, apps and encrypted headers. */
export interface WebhookListQuery extends SizedPageQuery {
  readonly account_id: string
  readonly status: WebhookRecord['status'] | null
  /** Only webhooks whose apps are all among these. */
  readonly within: readonly string[] | null
}

export interface WebhookReads {
  get(accountId: string, id: string): Promise<WebhookRecord | undefined>
  list(query: WebhookListQuery): Promise<Page<WebhookRecord>>
  /**
   * The webhooks of the account that a key, or any key below it, created or set a part of, by id. Ended
   * keys are included.
   */
  fromKey(accountId: string, keyId: string): Promise<readonly WebhookRecord[]>
}

export interface WebhookChanges {
  readonly url?: string
  readonly events?: readonly string[]
  readonly description?: string | null
  readonly apps?: readonly string[] | null
  readonly standard_headers?: boolean
  readonly trace_headers?: boolean
  readonly headers?: EncryptedHeaders | null
  readonly rate_limit?: number | null
  readonly concurrency?: number | null
}

export interface WebhookWrites extends WebhookReads {
  /** Inserts the webhook with its secrets. */
  insert(webhook: WebhookRecord): Promise<void>
  /**
   * Changes only the named columns; `by` becomes the origin of url, events and apps, if named. False when
   * there is no such webhook.
   */
  update(id: string, changes: WebhookChanges, by: Creator, now: Instant): Promise<boolean>
  /**
   * Adds a secret, set by `by`, and makes it the current one. Every older one ends at `olderNotAfter` or
   * before; those that have ended by `now` are deleted. False when there is no such webhook.
   */
  rotateSecret(
    id: string,
    secret: EncryptedSecret,
    olderNotAfter: Instant,
    by: Creator,
    now: Instant,
  ): Promise<boolean>
  /** Makes the webhook active and resets its failure counters. */
  enable(id: string, now: Instant): Promise<void>
  /** Deletes the webhook and cancels its unfinished deliveries, which stay readable until retention. */
  delete(id: string, now: Instant): Promise<boolean>
}
