const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE62 = /^[0-9A-Za-z]+$/

/**
 * Encodes bytes, as one big-endian number, in exactly `width` base62 digits, padded with zeros on the left.
 *
 * @throws TypeError when the number needs more digits
 * @example
 * encodeBase62(Uint8Array.of(1, 0), 3) // '048'
 */
export function encodeBase62(bytes: Uint8Array, width: number): string {
  const digits = new Uint8Array(width)
  for (const byte of bytes) {
    let carry = byte
    for (let at = width - 1; at >= 0; at--) {
      carry += (digits[at] ?? 0) * 256
      digits[at] = carry % 62
      carry = Math.floor(carry / 62)
    }
    if (carry !== 0) throw new TypeError(`The number needs more than ${width} base62 digits`)
  }
  let text = ''
  for (const digit of digits) text += ALPHABET.charAt(digit)
  return text
}

/**
 * Whether a text is one or more base62 digits.
 *
 * @example
 * isBase62('0Az') // true
 */
export function isBase62(text: string): boolean {
  return BASE62.test(text)
}
