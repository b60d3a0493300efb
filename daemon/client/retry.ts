/** How often a call is tried that may be repeated. */
export const ATTEMPTS = 3

const FIRST_WAIT = 250
/** Milliseconds that a caller is kept waiting for a service that names its own time. */
const LONGEST_WAIT = 60_000

const PASSING: ReadonlySet<number> = new Set([429, 503])

/** Whether the same request may fare better soon. An own twin under way is waited for. */
export function isPassing(status: number, code: string): boolean {
  return PASSING.has(status) || code === 'idempotency_in_progress'
}

/**
 * Milliseconds until the next attempt; undefined when it is not worth waiting.
 *
 * @param attempt the one that failed, from 1
 * @param retryAfter the header: seconds or a date; null: the wait doubles from 250 ms
 * @param random from 0 to 1; it only ever lengthens a wait, by up to half
 */
export function waitAfter(
  attempt: number,
  retryAfter: string | null,
  now: number,
  random: number,
): number | undefined {
  const named = retryAfter === null ? undefined : readRetryAfter(retryAfter, now)
  const wait = named ?? FIRST_WAIT * 2 ** (attempt - 1) * (1 + random / 2)
  return wait > LONGEST_WAIT ? undefined : wait
}

function readRetryAfter(text: string, now: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
