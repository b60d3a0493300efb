import type { Creator } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import type { SealedHeaders, SealedSecret, WebhookRecord } from '../../../lib/webhook/record.ts'
import type { Page, SizedPageQuery } from './page.ts'

/** As in `SizedPageQuery`, of events, apps and sealed headers. */
export interface WebhookListQuery extends SizedPageQuery {
  readonly account_id: string
  readonly status: WebhookRecord['status'] | null
  /** Only webhooks whose every app is among these. */
  readonly within: readonly string[] | null
}

export interface WebhookReads {
  get(accountId: string, id: string): Promise<WebhookRecord | undefined>
  list(query: WebhookListQuery): Promise<Page<WebhookRecord>>
  /**
   * The webhooks of the account that a key, or any key below it, created or set a part of: whatever
   * became of those keys, in order of id.
   */
  fromKey(accountId: string, keyId: string): Promise<readonly WebhookRecord[]>
}

export interface WebhookChanges {
  readonly url?: string
  readonly events?: readonly string[]
  readonly description?: string | null
  readonly apps?: readonly string[] | null
  readonly standard_headers?: boolean
  readonly headers?: SealedHeaders | null
  readonly rate_limit?: number | null
  readonly concurrency?: number | null
}

export interface WebhookWrites extends WebhookReads {
  /** Inserts the webhook with its secrets. */
  insert(webhook: WebhookRecord): Promise<void>
  /**
   * Changes the named columns alone; url, events and apps, where named, are set by `by` from then on.
   * False when there is no such webhook.
   */
  update(id: string, changes: WebhookChanges, by: Creator, now: Instant): Promise<boolean>
  /**
   * Adds a secret, set by `by`, and makes it the current one; every older one ends at `olderNotAfter` or before. What
   * has ended by `now` is deleted, so that a webhook that is rotated over and over keeps none of it.
   * False when there is no such webhook.
   */
  rotateSecret(
    id: string,
    secret: SealedSecret,
    olderNotAfter: Instant,
    by: Creator,
    now: Instant,
  ): Promise<boolean>
  /** Makes it active and clears its counters; a webhook that is active keeps them cleared too. */
  enable(id: string, now: Instant): Promise<void>
  /** Deletes it and cancels what is pending or under way; its deliveries stay readable until retention. */
  delete(id: string, now: Instant): Promise<boolean>
}
