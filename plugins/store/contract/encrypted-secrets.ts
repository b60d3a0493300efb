import type { Instant } from '../../../lib/time.ts'

/** Kinds of encrypted values in the core store: columns of tables, and named values. */
export const ENCRYPTED_KINDS = ['webhook_secret', 'webhook_headers', 'named_value'] as const

/** One of `ENCRYPTED_KINDS`, or a kind of other tables in the same database. */
export type EncryptedKind = string

/** The names of encrypted named values. */
export const ENCRYPTED_NAMES: readonly string[] = ['master_key_check']

/** An encrypted text with its location: the id of its secret, the id of its webhook, or its name. */
export interface EncryptedText {
  readonly id: string
  readonly encrypted: string
}

/** The number of texts under one master key: encrypted values, and fingerprints of stored responses. */
export interface EncryptedCount {
  readonly kind: EncryptedKind
  readonly key_id: string
  readonly count: number
  /** When the last of them expires; null for texts that do not expire. */
  readonly until: Instant | null
}

export interface EncryptedSecretReads {
  /** Every kind in this store. */
  readonly kinds: readonly EncryptedKind[]
  /** Numbers by kind and master key, without expired texts. */
  count(now: Instant): Promise<readonly EncryptedCount[]>
  /** Texts of one kind that are encrypted under another key than `keyId`, by id, starting after `after`. */
  encryptedElsewhere(
    kind: EncryptedKind,
    keyId: string,
    page: { readonly after: string; readonly limit: number },
  ): Promise<readonly EncryptedText[]>
}

export interface EncryptedSecretWrites extends EncryptedSecretReads {
  /**
   * Replaces each `from` by `to`. Skips texts that were changed meanwhile or are being changed. Returns the
   * number of replaced texts.
   */
  reencrypt(
    kind: EncryptedKind,
    texts: readonly { readonly id: string; readonly from: string; readonly to: string }[],
  ): Promise<number>
}
