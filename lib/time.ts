/** A point in time: integer milliseconds since the Unix epoch. */
export type Instant = number

/** A duration in integer milliseconds. */
export type Millis = number

export const SECOND: Millis = 1000
export const MINUTE: Millis = 60 * SECOND
export const HOUR: Millis = 60 * MINUTE
export const DAY: Millis = 24 * HOUR

/** The last instant with each remainder modulo 256, and its text. */
const formatted = Array.from({ length: 256 }, () => ({ at: 0, text: new Date(0).toISOString() }))

/**
 * Formats an instant as ISO 8601 in UTC.
 *
 * @example
 * toIso(0) // '1970-01-01T00:00:00.000Z'
 */
export function toIso(at: Instant): string {
  // The same few instants are formatted again and again, and formatting is the largest cost of most requests.
  const slot = Math.abs(at % formatted.length)
  const known = formatted[slot]
  if (known?.at === at) return known.text
  const text = new Date(at).toISOString()
  formatted[slot] = { at, text }
  return text
}
