import type { Instant, Millis } from '../time.ts'
import { DAY } from '../time.ts'

/** One value of a key, as stored. A key keeps its id while its values are rotated. */
export interface KeySecret {
  /** SHA-256 of the value, lower-case hex. */
  readonly hash: string
  readonly display: string
  /** Increases by one with every rotation; the highest is the current value. */
  readonly version: number
  readonly created_at: Instant
  /** When the value ends; null for the current one. */
  readonly not_after: Instant | null
}

/** When a key ends: at its expiry or at its revocation. */
export interface KeyTimes {
  readonly expires_at: Instant | null
  readonly revoked_at: Instant | null
}

/** `rotating`: active, and at least one previous value still works. */
export type KeyStatus = 'active' | 'rotating' | 'expired' | 'revoked'

/** `previous`: a replaced value in its grace period. It may read and write, but not manage keys. */
export type SecretStatus = 'current' | 'previous' | 'ended'

/** Maximum live values of a key: the current one and four previous ones. */
export const MAX_LIVE_SECRETS = 5

/** Maximum of an account's limit of live keys. */
export const MAX_KEY_LIMIT = 100_000

/** Grace period of a rotation that names none. */
export const DEFAULT_GRACE: Millis = DAY

/** Maximum grace period of a rotation. */
export const MAX_GRACE: Millis = DAY

function reached(end: Instant | null, now: Instant): boolean {
  return end !== null && now >= end
}

/**
 * The status of a key at an instant. Revoked takes precedence over expired; `expires_at` is exclusive.
 * Ancestors are included only when `key` has the earliest times of its chain.
 *
 * @example
 * keyStatus({ expires_at: 1000, revoked_at: null }, [], 1000) // 'expired'
 */
export function keyStatus(key: KeyTimes, secrets: readonly KeySecret[], now: Instant): KeyStatus {
  if (key.revoked_at !== null) return 'revoked'
  if (reached(key.expires_at, now)) return 'expired'
  const current = Math.max(...secrets.map((secret) => secret.version))
  const rotating = secrets.some((secret) => secretStatus(key, secret, current, now) === 'previous')
  return rotating ? 'rotating' : 'active'
}

/**
 * The status of one value of a key at an instant. Every previous value has its own grace period, which a
 * later rotation does not shorten; at most `MAX_LIVE_SECRETS` values are live.
 *
 * @example
 * const secret = { hash: '…', display: 'service_dk_…', version: 1, created_at: 0, not_after: 500 }
 * secretStatus({ expires_at: null, revoked_at: null }, secret, 2, 499) // 'previous'
 */
export function secretStatus(
  key: KeyTimes,
  secret: KeySecret,
  currentVersion: number,
  now: Instant,
): SecretStatus {
  if (key.revoked_at !== null || reached(key.expires_at, now)) return 'ended'
  if (reached(secret.not_after, now)) return 'ended'
  if (secret.version === currentVersion) return 'current'
  const isReplaced = secret.version < currentVersion && secret.not_after !== null
  return isReplaced ? 'previous' : 'ended'
}

/** The previous values in their grace periods, newest first. */
export function previousSecrets(
  key: KeyTimes & { readonly version: number; readonly secrets: readonly KeySecret[] },
  now: Instant,
): readonly KeySecret[] {
  return key.secrets
    .filter((secret) => secretStatus(key, secret, key.version, now) === 'previous')
    .sort((a, b) => b.version - a.version)
}

/**
 * When a value that is replaced now ends: after its grace period, at most at the key's expiry; 0 without
 * a grace period.
 *
 * @throws TypeError unless the grace period is 0 to `MAX_GRACE` whole milliseconds
 * @example
 * previousNotAfter({ expires_at: 5000, revoked_at: null }, DEFAULT_GRACE, 1000) // 5000
 */
export function previousNotAfter(key: KeyTimes, graceMs: Millis, now: Instant): Instant {
  if (!Number.isInteger(graceMs) || graceMs < 0 || graceMs > MAX_GRACE) {
    throw new TypeError(`A grace period is 0 to ${MAX_GRACE} milliseconds, not ${graceMs}`)
  }
  // 0 stays in the past even when the clock is set back.
  return graceMs === 0 ? 0 : Math.min(now + graceMs, key.expires_at ?? Infinity)
}

/**
 * How a key ended, by itself or with an ancestor; undefined while it is live. A revocation anywhere in the
 * chain takes precedence over an expiry.
 *
 * @param chain root first, the key itself last
 * @example
 * endOfChain([{ ...root, revoked_at: 1000 }, child], 2000) // 'revoked'
 */
export function endOfChain(
  chain: readonly (KeyTimes & { readonly secrets: readonly KeySecret[] })[],
  now: Instant,
): 'revoked' | 'expired' | undefined {
  const ends = chain.map((key) => keyStatus(key, key.secrets, now))
  return (['revoked', 'expired'] as const).find((end) => ends.includes(end))
}
