/** A point in time: integer milliseconds since the Unix epoch, as rows keep it. */
export type Instant = number

/** A length of time in integer milliseconds. */
export type Millis = number

export const SECOND: Millis = 1000
export const MINUTE: Millis = 60 * SECOND
export const HOUR: Millis = 60 * MINUTE
export const DAY: Millis = 24 * HOUR

/** An instant as the wire shows it: ISO 8601, UTC, with `Z`. */
export function toIso(at: Instant): string {
  return new Date(at).toISOString()
}
