import type { Instant, Millis } from '../time.ts'
import { DAY } from '../time.ts'

/** One value of a key, as it is stored: a key is its identity, its values come and go. */
export interface KeySecret {
  /** SHA-256 of the value, lower-case hex. */
  readonly hash: string
  readonly display: string
  /** Counts up by one with every rotation; the highest is the current value. */
  readonly version: number
  readonly created_at: Instant
  /** Null as long as the value is the current one. */
  readonly not_after: Instant | null
}

/** When a key stops: at its expiry, or from its revocation on. */
export interface KeyTimes {
  readonly expires_at: Instant | null
  readonly revoked_at: Instant | null
}

/** `rotating`: active, and at least one previous value still works. */
export type KeyStatus = 'active' | 'rotating' | 'expired' | 'revoked'

/** `previous`: a replaced value in its grace; it reads and writes, but manages no keys. */
export type SecretStanding = 'current' | 'previous' | 'ended'

/** Values of a key that may be live at once: the current one and four previous ones. */
export const MAX_LIVE_SECRETS = 5

/** The highest limit of live keys that an account may be given. */
export const MAX_KEY_LIMIT = 100_000

/** How long a replaced value works when a rotation does not say. */
export const DEFAULT_GRACE: Millis = DAY

/** The longest grace that a rotation may ask for. */
export const MAX_GRACE: Millis = DAY

function reached(end: Instant | null, now: Instant): boolean {
  return end !== null && now >= end
}

/**
 * What a key is at an instant. Revoked wins over expired; a key is expired from `expires_at` itself
 * on. Ancestors count when `key` carries the whole chain's times.
 *
 * @example
 * keyStatus({ expires_at: 1000, revoked_at: null }, [], 1000) // 'expired'
 */
export function keyStatus(key: KeyTimes, secrets: readonly KeySecret[], now: Instant): KeyStatus {
  if (key.revoked_at !== null) return 'revoked'
  if (reached(key.expires_at, now)) return 'expired'
  const current = Math.max(...secrets.map((secret) => secret.version))
  const rotating = secrets.some(
    (secret) => secretStanding(key, secret, current, now) === 'previous',
  )
  return rotating ? 'rotating' : 'active'
}

/**
 * What one value of a key may still do. Every previous value has a grace period of its own, which a
 * later rotation does not shorten; the store keeps at most `MAX_LIVE_SECRETS` live.
 *
 * @example
 * const secret = { hash: '…', display: 'service_dk_…', version: 1, created_at: 0, not_after: 500 }
 * secretStanding({ expires_at: null, revoked_at: null }, secret, 2, 499) // 'previous'
 */
export function secretStanding(
  key: KeyTimes,
  secret: KeySecret,
  currentVersion: number,
  now: Instant,
): SecretStanding {
  if (key.revoked_at !== null || reached(key.expires_at, now)) return 'ended'
  if (reached(secret.not_after, now)) return 'ended'
  if (secret.version === currentVersion) return 'current'
  const isReplaced = secret.version < currentVersion && secret.not_after !== null
  return isReplaced ? 'previous' : 'ended'
}

/** The previous values that still work, newest first. */
export function previousSecrets(
  key: KeyTimes & { readonly version: number; readonly secrets: readonly KeySecret[] },
  now: Instant,
): readonly KeySecret[] {
  return key.secrets
    .filter((secret) => secretStanding(key, secret, key.version, now) === 'previous')
    .sort((a, b) => b.version - a.version)
}

/**
 * When a value replaced now stops working: after its grace, never past the key's expiry; 0 without a grace. Throws
 * TypeError unless the grace is 0 to `MAX_GRACE` whole milliseconds.
 *
 * @example
 * previousNotAfter({ expires_at: 5000, revoked_at: null }, DEFAULT_GRACE, 1000) // 5000
 */
export function previousNotAfter(key: KeyTimes, graceMs: Millis, now: Instant): Instant {
  if (!Number.isInteger(graceMs) || graceMs < 0 || graceMs > MAX_GRACE) {
    throw new TypeError(`A grace is 0 to ${MAX_GRACE} milliseconds, not ${graceMs}`)
  }
  // Ended at once is ended for ever, also where the calendar is set back.
  return graceMs === 0 ? 0 : Math.min(now + graceMs, key.expires_at ?? Infinity)
}
