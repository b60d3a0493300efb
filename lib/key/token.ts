import { hash } from 'node:crypto'
import { encodeBase62, isBase62 } from '../internal/base62.ts'
import { crc32 } from '../internal/crc32.ts'
import { BYTES } from '../internal/arguments.ts'

/** A new key value. `value` is shown once and never stored; `display` may be stored and shown. */
export interface MintedToken {
  readonly value: string
  readonly display: string
}

const RANDOM_BYTES = 32
/** The fewest base62 digits that hold 256 bits. */
const BODY_LENGTH = 43
/** The fewest base62 digits that hold 32 bits. */
const CHECKSUM_LENGTH = 6
const TAIL_LENGTH = BODY_LENGTH + CHECKSUM_LENGTH
const DISPLAY_LENGTH = 8

/** Characters that an Authorization header carries unescaped (RFC 6750, 2.1). */
const PREFIX = /^[0-9A-Za-z_]*$/

// Half the cost of a TextEncoder, on every request. A token is ASCII.
function asciiBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}

function checksumOf(text: string): string {
  const sum = crc32(asciiBytes(text))
  const bytes = Uint8Array.of(sum >>> 24, sum >>> 16, sum >>> 8, sum)
  return encodeBase62(bytes, CHECKSUM_LENGTH)
}

/**
 * Creates a key value: the prefix, 43 base62 digits of 256 random bits, and 6 base62 digits of the
 * CRC-32 of everything before them.
 *
 * @throws TypeError for a prefix with characters other than letters, digits and underscores, and when
 *   `random` does not return 32 bytes
 * @example
 * mintToken('service_dk_', (length) => crypto.getRandomValues(new Uint8Array(length)))
 * // { value: 'service_dk_' + 49 characters, display: 'service_dk_' + the first 8 of them }
 */
export function mintToken(prefix: string, random: (length: number) => Uint8Array): MintedToken {
  if (!PREFIX.test(prefix)) throw new TypeError(`${JSON.stringify(prefix)} cannot begin a key`)
  const bytes = random(RANDOM_BYTES)
  // A string of that length, for example, would make a guessable key.
  if (!BYTES.accepts(bytes) || bytes.length !== RANDOM_BYTES) {
    throw new TypeError(`mintToken: random must return ${RANDOM_BYTES} bytes, a Uint8Array`)
  }
  const unsealed = prefix + encodeBase62(bytes, BODY_LENGTH)
  return {
    value: unsealed + checksumOf(unsealed),
    display: unsealed.slice(0, prefix.length + DISPLAY_LENGTH),
  }
}

/**
 * Whether a value has the prefix and the length of a key: a cheap test before the checksum.
 *
 * @example
 * isTokenLike('service_dk_', 'service_dk_short') // false
 */
export function isTokenLike(prefix: string, value: unknown): value is string {
  if (typeof value !== 'string') return false
  return value.length === prefix.length + TAIL_LENGTH && value.startsWith(prefix)
}

/**
 * Whether a value of any type has the form and the checksum of a key with this prefix. It refuses a
 * mistyped or truncated key before any query. The value is parsed from the right, so that a prefix may
 * contain underscores and digits.
 *
 * @example
 * isToken('service_dk_', 'service_dk_tampered') // false
 */
export function isToken(prefix: string, value: unknown): boolean {
  if (!isTokenLike(prefix, value)) return false
  if (!isBase62(value.slice(-TAIL_LENGTH))) return false
  return checksumOf(value.slice(0, -CHECKSUM_LENGTH)) === value.slice(-CHECKSUM_LENGTH)
}

/**
 * The SHA-256 of a whole key value in lower-case hex, which is stored and looked up instead of the value.
 *
 * A fast hash is sufficient: a value has 256 random bits and cannot be guessed.
 *
 * @example
 * hashToken('abc') // 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
 */
export function hashToken(value: string): string {
  return hash('sha256', value, 'hex')
}

/**
 * The 32 bytes of `hashToken`, one character (U+0000 to U+00FF) each: a key for a cache in memory, which is
 * found faster than hexadecimal digits. It is never stored.
 *
 * @example
 * digestToken('abc').length // 32
 */
export function digestToken(value: string): string {
  return hash('sha256', value, 'binary')
}
