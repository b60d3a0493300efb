const MAX_BYTES = 255

/** C0, C1, halves of characters, ends of lines, and what turns the text around it. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

/**
 * The name by which a file is shown, from the one it was sent under: what a browser's folder upload or an
 * old client puts before it is cut off. Undefined for what is no name.
 *
 * @example
 * cleanName('C:\\notes\\hours.pdf') // 'hours.pdf'
 */
export function cleanName(given: string): string | undefined {
  const name = (/[^/\\]*$/.exec(given)?.[0] ?? '').normalize('NFC').trim()
  const isNone = name === '' || name === '.' || name === '..'
  return isNone || UNSEEN.test(name) || Buffer.byteLength(name) > MAX_BYTES ? undefined : name
}
