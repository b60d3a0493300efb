import type { Creator } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from './page.ts'

/** A request with an `Idempotency-Key`, and its response. */
export interface IdempotencyRecord {
  /** Credential, method and path of the request. */
  readonly scope: string
  readonly key: string
  /** Keyed fingerprint of the request body. */
  readonly fingerprint: string
  /** The response, without secrets that are shown once; null while the request is in progress. */
  readonly answer: { readonly status: number; readonly body: string } | null
  readonly created_at: Instant
  readonly expires_at: Instant
}

/** A request that has its response. */
export interface AnsweredRequest extends Omit<IdempotencyRecord, 'created_at'> {
  readonly answer: NonNullable<IdempotencyRecord['answer']>
}

/** One change, for the account's owners. Append-only. */
export interface AuditRecord {
  readonly id: string
  readonly account_id: string
  readonly at: Instant
  readonly actor_type: string
  readonly actor_id: string | null
  readonly action: string
  readonly target_type: string
  readonly target_id: string
  readonly app_id: string | null
  readonly request_id: string
  /** Client address; null for the control socket. */
  readonly ip: string | null
  /** Protocol of the call: `rest`, `mcp` or `a2a`; null for what was not called, and before it was recorded. */
  readonly protocol: string | null
  /** The client's name for itself, untrusted; null without one. */
  readonly client: string | null
  /** For a webhook: who created it and who last set a part of it; null for any other target. */
  readonly origins: AuditOrigins | null
}

export interface AuditOrigins {
  readonly created_by: Creator
  readonly set_by: Creator
}

export interface AuditQuery extends PageQuery {
  readonly account_id: string
  readonly action: string | null
  readonly actor_id: string | null
  readonly target_id: string | null
}

export interface RequestReads {
  /** @param most records that a page looks at; default `MOST_LOOKED_AT` */
  audit(query: AuditQuery, most?: number): Promise<Page<AuditRecord>>
  /** Undefined when there is none or it has expired. */
  idempotency(scope: string, key: string, now: Instant): Promise<IdempotencyRecord | undefined>
}

export interface RequestWrites extends RequestReads {
  /**
   * Claims a key. False, changing nothing, when another request has claimed it or has its response: of
   * concurrent callers exactly one gets true. A claim without a response ends at its expiry.
   */
  claimIdempotency(record: IdempotencyRecord): Promise<boolean>
  /**
   * Stores the response of a claimed key, with its expiry and the fingerprint of the request, which may be
   * known only now. A stored response is never replaced: of two successive claims the first one wins.
   */
  answerIdempotency(answered: AnsweredRequest): Promise<void>
  /**
   * Extends a claim without a response. Does not change a later claim, see `dropIdempotency`.
   */
  renewIdempotency(
    claim: Pick<IdempotencyRecord, 'scope' | 'key' | 'created_at' | 'expires_at'>,
  ): Promise<void>
  /**
   * Releases a claimed key after the work failed. Does not change a later claim, which was made after this
   * one had expired.
   */
  dropIdempotency(claim: Pick<IdempotencyRecord, 'scope' | 'key' | 'created_at'>): Promise<void>
  insertAudit(record: AuditRecord): Promise<void>
}
