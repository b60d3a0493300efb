import { BYTES } from '../internal/arguments.ts'
import { fromBase64, toBase64 } from '../internal/bytes.ts'

/** Prefix of every signing secret. */
export const SECRET_PREFIX = 'whsec_'

const MINTED_BYTES = 32
const DISPLAY_LENGTH = 10

/** A secret has 24 to 64 bytes (Standard Webhooks, "Signature scheme"). */
const MIN_BYTES = 24
const MAX_BYTES = 64

/**
 * Creates a signing secret: `whsec_` and the base64 of 32 random bytes, 50 characters in all.
 *
 * @throws TypeError when `random` does not return 32 bytes
 * @example
 * mintSecret((n) => crypto.getRandomValues(new Uint8Array(n))) // 'whsec_q83vEjRWeJq7zd7wEjRW…='
 */
export function mintSecret(random: (n: number) => Uint8Array): string {
  const bytes = random(MINTED_BYTES)
  // A string of that length, for example, would make a guessable secret.
  if (!BYTES.accepts(bytes) || bytes.length !== MINTED_BYTES) {
    throw new TypeError('mintSecret: random must return 32 bytes, a Uint8Array')
  }
  return SECRET_PREFIX + toBase64(bytes)
}

/**
 * Whether a text is a signing secret: `whsec_` and the base64 of 24 to 64 bytes.
 *
 * @example
 * isSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') // true
 * isSecret('whsec_') // false
 */
export function isSecret(text: string): boolean {
  return decodeSecret(text) !== undefined
}

/**
 * Decodes a signing secret to the HMAC key of the Standard Webhooks signature.
 *
 * @throws TypeError when `isSecret(secret)` is false; the message never repeats the secret
 * @example
 * secretBytes('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw').length // 24
 */
export function secretBytes(secret: string): Uint8Array {
  const bytes = decodeSecret(secret)
  if (bytes === undefined) {
    throw new TypeError('a signing secret is "whsec_" and the base64 of 24 to 64 bytes')
  }
  return bytes
}

/**
 * The part of a signing secret that may be shown: its first 10 characters and an ellipsis.
 *
 * @example
 * secretDisplay('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') // 'whsec_MfKQ…'
 */
export function secretDisplay(secret: string): string {
  return `${secret.slice(0, DISPLAY_LENGTH)}…`
}

function decodeSecret(text: string): Uint8Array | undefined {
  if (!text.startsWith(SECRET_PREFIX)) return undefined
  const bytes = fromBase64(text.slice(SECRET_PREFIX.length))
  if (bytes === undefined || bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) return undefined
  return bytes
}
