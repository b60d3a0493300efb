import type { Span, Timeline } from '../clock/timeline.ts'
import { LEASE, SCHEDULE } from '../facts.ts'
import type { Ledger } from '../ledger.ts'
import type { Arrival } from '../receiver.ts'
import type { Millis } from '../../../lib/time.ts'
import type { ShownDelivery } from './deliveries.ts'

/** What the time between two attempts is judged by. */
export interface Times {
  /** The clock that deliveries are planned and shown by. */
  readonly timeline: Timeline
  /** When there was no daemon. */
  readonly downtimes: readonly Span[]
  /** How late a retry may be. */
  readonly late: Millis
}

/** How the retries of a delivery kept to their times. */
export interface Kept {
  /** By how much each came late, time without a daemon not counted. */
  readonly late: readonly number[]
  /** Attempts that are not judged, since the clock showed their beginning more than once. */
  readonly unplaced: number
}

/** Instants are whole milliseconds, rounded at both ends. */
const ROUNDING = 5
const JITTER = 1.1
/** Beyond how late it may be where the clock jumped: then much is due at once. */
const LATE_AT_ONCE = 10_000
/** How late a process may come to read what was sent to it, or its clock, on a machine under load. */
const LAG = 500

/** A retry comes at its time, which is that of a clock that may jump; arrivals are by the right one. */
export function checkSchedule(
  { id, attempts }: ShownDelivery,
  came: readonly Arrival[],
  { timeline, downtimes, late: allowed }: Times,
  inFlight: number,
  ledger: Ledger,
): Kept {
  let unplaced = 0
  const late = attempts.flatMap((attempt, index) => {
    const { error, response, duration_ms } = attempt
    const delay = (SCHEDULE[index] ?? 0) * 1000
    if (error === null || delay === 0) return []
    const started = beganAt(attempt, came, timeline)
    if (started === undefined) {
      unplaced++
      return []
    }
    const ended = started + duration_ms
    // Its own arrival is the first since it began: always where it was answered, else unless the
    // request never came through. Its end says nothing: the clocks of both are read under load.
    const since = came.filter(({ at }) => at >= started)
    const isOwn = response !== null || (since[0]?.at ?? Infinity) <= ended + LAG
    const next = since[isOwn ? 1 : 0]
    if (next === undefined) return []
    const wait = { from: ended, until: next.at }
    // Its end was read off the clock soon after; whether before or after a jump is not known.
    const ahead = timeline.offsets({ from: ended, until: ended + LAG })
    const early = ended + ahead.least + delay - timeline.shown(wait).latest
    ledger.check('schedule.kept', early <= ROUNDING, () => {
      return `${id}: attempt ${index + 1} ended at ${ended}, the next came at ${next.at}, ${early} ms early`
    })
    // Once it was due it may have been claimed and given back, due at what the clock showed then: what a
    // clock that was set back has to make up for is not counted.
    const due = ended + ahead.most + delay * JITTER
    const spent = timeline.beyond(due, wait).reduce((sum, span) => sum + served(span, downtimes), 0)
    const { least, most } = timeline.offsets(wait)
    const atMost = allowed + inFlight * LEASE + (least === most ? 0 : LATE_AT_ONCE)
    ledger.check('schedule.prompt', spent <= atMost, () => {
      return `${id}: attempt ${index + 2} was due when the clock showed ${due} and came ${spent} ms late at ${next.at}`
    })
    return [spent]
  })
  return { late, unplaced }
}

/** When an attempt began, by the right clock: of several moments, that at which something arrived. */
function beganAt(
  { started_at, duration_ms }: ShownDelivery['attempts'][number],
  came: readonly Arrival[],
  timeline: Timeline,
): number | undefined {
  const moments = timeline.momentsOf(Date.parse(started_at))
  if (moments.length === 1) return moments[0]
  const seen = moments.filter((moment) =>
    came.some(({ at }) => at >= moment && at <= moment + duration_ms + LAG),
  )
  return seen.length === 1 ? seen[0] : undefined
}

/** How much of a span there was a daemon. */
function served({ from, until }: Span, downtimes: readonly Span[]): number {
  const down = downtimes.reduce(
    (sum, one) => sum + Math.max(0, Math.min(one.until, until) - Math.max(one.from, from)),
    0,
  )
  return Math.max(0, until - from - down)
}
