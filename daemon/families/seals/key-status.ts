import type { Keyring } from '../../../lib/engine/keyring.ts'
import type { Instant } from '../../../lib/time.ts'
import type { EncryptedCount } from '../../../plugins/store/contract/encrypted-secrets.ts'

/** Status of a master key. */
export interface MasterKeyStatus {
  readonly id: string
  /**
   * `current`: encrypts new secrets. `needed`: some secrets are still encrypted with it. `remembered`:
   * idempotency records use it until they expire. `removable`: unused. `missing`: needed, but not among the
   * given keys.
   */
  readonly status: 'current' | 'needed' | 'remembered' | 'removable' | 'missing'
  /** Secrets encrypted with it. The name is that of the wire. */
  readonly sealed: number
  /** Expiry of the last idempotency record that uses it; null without any. */
  readonly remembered_until: Instant | null
}

/** The given keys in order, followed by missing ones. */
export function masterKeyStatuses(
  { ids }: Pick<Keyring, 'ids'>,
  counts: readonly EncryptedCount[],
): readonly MasterKeyStatus[] {
  const found = counts.map(({ key_id }) => key_id).filter((id) => !ids.includes(id))
  return [...new Set([...ids, ...found])].map((id) => {
    const own = counts.filter(({ key_id }) => key_id === id)
    const sealed = own
      .filter(({ kind }) => kind !== 'kept_answer')
      .reduce((sum, { count }) => sum + count, 0)
    const remembered_until = own.find(({ kind }) => kind === 'kept_answer')?.until ?? null
    const status = statusOf(ids.indexOf(id), sealed, remembered_until)
    return { id, status, sealed, remembered_until }
  })
}

function statusOf(
  index: number,
  sealed: number,
  rememberedUntil: Instant | null,
): MasterKeyStatus['status'] {
  if (index === 0) return 'current'
  if (index < 0) return 'missing'
  if (sealed > 0) return 'needed'
  return rememberedUntil === null ? 'removable' : 'remembered'
}

const NOUNS: Readonly<
  Partial<Record<EncryptedCount['kind'], readonly [one: string, many: string]>>
> = {
  webhook_secret: ['webhook secret', 'webhook secrets'],
  webhook_headers: ["webhook's headers", "webhooks' headers"],
  service_secret: ['service secret', 'service secrets'],
  named_value: ['check value', 'check values'],
  kept_answer: ['kept answer', 'kept answers'],
}

/**
 * The counts of one master key, in words.
 *
 * @example
 * describeCounts([{ kind: 'webhook_secret', key_id: 'k1', count: 2, until: null }]) // '2 webhook secrets'
 */
export function describeCounts(counts: readonly EncryptedCount[]): string {
  const nounOf = ({ kind, count }: EncryptedCount): string =>
    (NOUNS[kind] ?? [kind, kind])[count === 1 ? 0 : 1]
  return counts.map((one) => `${one.count} ${nounOf(one)}`).join(', ')
}
