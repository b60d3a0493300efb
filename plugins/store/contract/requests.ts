import type { Creator } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from './page.ts'

/** What was answered to a request that carried an `Idempotency-Key`. */
export interface IdempotencyRecord {
  /** Who asked what: credential, method and path. */
  readonly scope: string
  readonly key: string
  /** A keyed mark of the request's body. */
  readonly fingerprint: string
  /** The answer, without secrets that are shown once; null while the work is under way. */
  readonly answer: { readonly status: number; readonly body: string } | null
  readonly created_at: Instant
  readonly expires_at: Instant
}

/** The same, once it is answered. */
export interface AnsweredRequest extends Omit<IdempotencyRecord, 'created_at'> {
  readonly answer: NonNullable<IdempotencyRecord['answer']>
}

/** One change, kept for the account's owners. Append-only. */
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
  /** Where the request came from; null when it came over the control socket. */
  readonly ip: string | null
  /** Of a webhook: who created it and who last set a part of it; null for any other target. */
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
  /** Undefined when there is none, or it has expired. */
  idempotency(scope: string, key: string, now: Instant): Promise<IdempotencyRecord | undefined>
}

export interface RequestWrites extends RequestReads {
  /**
   * Claims a key. False, changing nothing, when another request holds it or was answered under it: of
   * concurrent twins exactly one gets true. A claim that was never answered ends at its expiry.
   */
  claimIdempotency(record: IdempotencyRecord): Promise<boolean>
  /**
   * Keeps the answer of a claimed key, from now on until it expires, and the mark of what was asked, which
   * may be known no sooner. What was answered stays: of two whose claims followed each other the first.
   */
  answerIdempotency(answered: AnsweredRequest): Promise<void>
  /**
   * Extends a claim that is not answered yet. Leaves a later claim alone, as `dropIdempotency` does.
   */
  renewIdempotency(
    claim: Pick<IdempotencyRecord, 'scope' | 'key' | 'created_at' | 'expires_at'>,
  ): Promise<void>
  /**
   * Gives a claimed key back, for work that failed. Leaves a later claim alone, which was made once this
   * one had expired.
   */
  dropIdempotency(claim: Pick<IdempotencyRecord, 'scope' | 'key' | 'created_at'>): Promise<void>
  insertAudit(record: AuditRecord): Promise<void>
}
