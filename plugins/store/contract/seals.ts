import type { Instant } from '../../../lib/time.ts'

/** Kinds of values that the core store keeps encrypted: a column of a table, or a value kept under a name. */
export const SEAL_KINDS = ['webhook_secret', 'webhook_headers', 'named_value'] as const

/** One of `SEAL_KINDS`, or a kind of tables that are kept beside the core's. */
export type SealKind = string

/** The names under which a sealed value is kept. */
export const SEALED_NAMES: readonly string[] = ['master_key_check']

/** A sealed text and where it is: the id of its secret, the id of its webhook, or its name. */
export interface SealedText {
  readonly id: string
  readonly sealed: string
}

/** What bears the mark of a master key: what is sealed, and answers that are kept for a while. */
export interface SealCount {
  readonly kind: SealKind
  readonly key_id: string
  readonly count: number
  /** When the last of them ends by itself; null for what stays. */
  readonly until: Instant | null
}

export interface SealReads {
  /** Every kind that this store keeps. */
  readonly kinds: readonly SealKind[]
  /** How many there are under each master key, without those of none and those that ended. */
  count(now: Instant): Promise<readonly SealCount[]>
  /** Texts of one kind that are sealed under another key than this, by their ids from beyond `after`. */
  sealedElsewhere(
    kind: SealKind,
    keyId: string,
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly SealedText[]>
}

export interface SealWrites extends SealReads {
  /**
   * Puts `to` in the place of `from`, each only where `from` still is: what was changed meanwhile, or is
   * being changed, is left alone. Answers how many were replaced.
   */
  reseal(
    kind: SealKind,
    texts: readonly { readonly id: string; readonly from: string; readonly to: string }[],
  ): Promise<number>
}
