const encoder = new TextEncoder()
// Keeps a byte order mark, so that decoding is lossless.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Encodes text as UTF-8; a lone surrogate becomes U+FFFD.
 *
 * @example
 * utf8('é') // Uint8Array [195, 169]
 */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}

/**
 * Decodes UTF-8.
 *
 * @throws TypeError when the bytes are not UTF-8
 * @example
 * fromUtf8(Uint8Array.of(195, 169)) // 'é'
 */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/**
 * Decodes UTF-8; undefined for bytes that are not UTF-8.
 *
 * @example
 * readUtf8(Uint8Array.of(255)) // undefined
 */
export function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Decodes bytes that may be text; undefined when they are not UTF-8 or contain a NUL.
 *
 * @example
 * readText(Uint8Array.of(97, 0)) // undefined
 */
export function readText(bytes: Uint8Array): string | undefined {
  const text = readUtf8(bytes)
  return text?.includes('\0') === true ? undefined : text
}

const HEX_OF_BYTE: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
)

/**
 * Encodes bytes as lower-case hex.
 *
 * @example
 * toHex(Uint8Array.of(1, 255)) // '01ff'
 */
export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX_OF_BYTE[byte]
  return text
}

/**
 * Decodes the output of `toHex`; undefined for any other text, such as upper case or an odd length.
 *
 * @example
 * fromHex('01ff') // Uint8Array [1, 255]
 */
export function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) return undefined
  const byteAt = (_: unknown, at: number): number => parseInt(text.slice(at * 2, at * 2 + 2), 16)
  return Uint8Array.from({ length: text.length / 2 }, byteAt)
}

/**
 * Encodes bytes as padded base64 of the standard alphabet (RFC 4648, 4).
 *
 * @example
 * toBase64(Uint8Array.of(255, 254)) // '//4='
 */
export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

// The unused bits of the last character before the padding must be zero (RFC 4648, 3.5).
const CANONICAL_BASE64 =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/

/**
 * Decodes the output of `toBase64`; undefined for any other text. No two texts decode to the same bytes.
 *
 * @example
 * fromBase64('//4=') // Uint8Array [255, 254]
 * fromBase64('//5=') // undefined
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!CANONICAL_BASE64.test(text)) return undefined
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

/**
 * Concatenates byte arrays.
 *
 * @example
 * concat([Uint8Array.of(1), Uint8Array.of(2, 3)]) // Uint8Array [1, 2, 3]
 */
export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/**
 * Compares bytes in constant time, for equal lengths.
 *
 * @example
 * equalBytes(utf8('a'), utf8('b')) // false
 */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (const [at, byte] of a.entries()) difference |= byte ^ (b[at] ?? 0)
  return difference === 0
}
