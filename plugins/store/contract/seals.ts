import type { Instant } from '../../../lib/time.ts'

/** Kinds of encrypted values in the core store: columns of tables, and named values. */
export const SEAL_KINDS = ['webhook_secret', 'webhook_headers', 'named_value'] as const

/** One of `ENCRYPTED_KINDS`, or a kind of other tables in the same database. */
export type SealKind = string

/** The names of encrypted named values. */
export const SEALED_NAMES: readonly string[] = ['master_key_check']

/** An encrypted text with its location: the id of its secret, the id of its webhook, or its name. */
export interface SealedText {
  readonly id: string
  readonly sealed: string
}

/** The number of texts under one master key: encrypted values, and fingerprints of stored responses. */
export interface SealCount {
  readonly kind: SealKind
  readonly key_id: string
  readonly count: number
  /** When the last of them expires; null for texts that do not expire. */
  readonly until: Instant | null
}

export interface SealReads {
  /** Every kind in this store. */
  readonly kinds: readonly SealKind[]
  /** Numbers by kind and master key, without expired texts. */
  count(now: Instant): Promise<readonly SealCount[]>
  /** Texts of one kind that are encrypted under another key than `keyId`, by id, starting after `after`. */
  sealedElsewhere(
    kind: SealKind,
    keyId: string,
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly SealedText[]>
}

export interface SealWrites extends SealReads {
  /**
   * Replaces each `from` by `to`. Skips texts that were changed meanwhile or are being changed. Returns the
   * number of replaced texts.
   */
  reseal(
    kind: SealKind,
    texts: readonly { readonly id: string; readonly from: string; readonly to: string }[],
  ): Promise<number>
}
