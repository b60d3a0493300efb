/**
 * Walking over a JSON text, or over what may be none, without parsing it.
 *
 * @module
 */

export const QUOTE = 0x22
export const COMMA = 0x2c
const COLON = 0x3a
export const ARRAY_OPEN = 0x5b
const BACKSLASH = 0x5c
export const ARRAY_CLOSE = 0x5d
export const OBJECT_OPEN = 0x7b
export const OBJECT_CLOSE = 0x7d

/** The index after the string that opens at `open`, or after the text that ends within it. */
export function stringEnd(text: string, open: number): number {
  let at = open + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    at += code === BACKSLASH ? 2 : 1
  }
  return text.length
}

/** In JSON a colon follows every key and no value. */
export function isFollowedByColon(text: string, end: number): boolean {
  let at = end
  while (text.charCodeAt(at) <= 0x20) at += 1
  return text.charCodeAt(at) === COLON
}
