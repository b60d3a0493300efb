/**
 * Scanning of a text that may be JSON, without parsing it.
 *
 * @module
 */

export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
export const ARRAY_OPEN = 0x5b
export const BACKSLASH = 0x5c
export const ARRAY_CLOSE = 0x5d
export const OBJECT_OPEN = 0x7b
export const OBJECT_CLOSE = 0x7d

/** The index after the string that begins at `open`, or the end of the text when it is unterminated. */
export function stringEnd(text: string, open: number): number {
  let at = open + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    at += code === BACKSLASH ? 2 : 1
  }
  return text.length
}

/** Whether a colon follows, which in JSON is true of every key and of no value. */
export function isFollowedByColon(text: string, end: number): boolean {
  let at = end
  while (text.charCodeAt(at) <= 0x20) at += 1
  return text.charCodeAt(at) === COLON
}
