const MAX_BYTES = 255
/** Characters of a name before it is normalized. */
const LONGEST_GIVEN = 1024

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
  const last = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1)
  // Normalizing takes time by the square of the length of some texts.
  if (last.length > LONGEST_GIVEN) return undefined
  const name = last.normalize('NFC').trim()
  const isNone = name === '' || name === '.' || name === '..'
  return isNone || UNSEEN.test(name) || Buffer.byteLength(name) > MAX_BYTES ? undefined : name
}
