import type { WebhookHealth } from '../delivery/health.ts'
import type { Creator } from '../key/record.ts'
import type { Instant } from '../time.ts'

/** A signing secret at rest. It is encrypted, not hashed: signing needs its value. */
export interface EncryptedSecret {
  readonly id: string
  readonly encrypted: string
  /** The first characters, by which owners distinguish secrets. */
  readonly display: string
  readonly created_at: Instant
  /** When a replaced secret stops signing; null for the current one. */
  readonly not_after: Instant | null
}

/** Custom headers of a webhook. Their values may be credentials, so they are encrypted together. */
export interface EncryptedHeaders {
  readonly names: readonly string[]
  readonly encrypted: string
}

/** Parts of a webhook that decide where events are sent, which events, and who can sign them. */
export const WEBHOOK_PARTS = ['url', 'events', 'apps', 'secret'] as const
export type WebhookPart = (typeof WEBHOOK_PARTS)[number]

/** A webhook: an address that receives events. */
export interface WebhookRecord extends WebhookHealth {
  readonly id: string
  readonly account_id: string
  readonly url: string
  readonly events: readonly string[]
  readonly description: string | null
  /** Only events of these apps; null for all. */
  readonly apps: readonly string[] | null
  readonly status: 'active' | 'disabled'
  readonly disabled_reason: 'failures' | 'gone' | 'manual' | 'key_revoked' | 'key_narrowed' | null
  readonly disabled_at: Instant | null
  readonly standard_headers: boolean
  /** Whether attempts carry the `traceparent` of their trace. */
  readonly trace_headers: boolean
  readonly headers: EncryptedHeaders | null
  /** Maximum deliveries per second; null for no limit. */
  readonly rate_limit: number | null
  /** Maximum concurrent deliveries; null uses the limit of the process. */
  readonly concurrency: number | null
  readonly last_success_at: Instant | null
  readonly last_delivery_at: Instant | null
  readonly created_by: Creator
  readonly created_at: Instant
  /** Who last set one of its parts. */
  readonly set_by: Creator
  readonly set_at: Instant
  /** The key that last set each part; null when a user or the operator did. */
  readonly set_keys: Readonly<Record<WebhookPart, string | null>>
  readonly updated_at: Instant
  /** The current one first. */
  readonly secrets: readonly EncryptedSecret[]
}
