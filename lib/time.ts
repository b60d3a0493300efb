/** A point in time: integer milliseconds since the Unix epoch, as rows keep it. */
export type Instant = number

/** A length of time in integer milliseconds. */
export type Millis = number

export const SECOND: Millis = 1000
export const MINUTE: Millis = 60 * SECOND
export const HOUR: Millis = 60 * MINUTE
export const DAY: Millis = 24 * HOUR

let last = { at: 0, text: new Date(0).toISOString() }

/** An instant as the wire shows it: ISO 8601, UTC, with `Z`. */
export function toIso(at: Instant): string {
  // Within a millisecond many things happen, and printing a date costs more than all else of most of them.
  if (at !== last.at) last = { at, text: new Date(at).toISOString() }
  return last.text
}
