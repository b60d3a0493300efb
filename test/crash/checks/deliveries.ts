import type { Span } from '../clock/timeline.ts'
import type { Webhook } from '../facts.ts'
import { mustArrive } from '../facts.ts'
import type { Ledger } from '../ledger.ts'
import type { Arrival } from '../receiver.ts'
import type { Json } from '../wire.ts'
import type { FedEvent } from './feed.ts'

/** A delivery as the API shows it. */
export interface ShownDelivery {
  readonly id: string
  readonly event_id: string
  readonly status: string
  readonly attempt_count: number
  readonly created_at: string
  readonly attempts: readonly {
    readonly number: number
    readonly started_at: string
    readonly duration_ms: number
    readonly response: Json | null
    readonly error: { readonly code: string } | null
  }[]
}

const FINAL = new Set(['succeeded', 'exhausted', 'blocked', 'skipped', 'canceled'])

/** Every event has one delivery to each webhook that names its type. */
export function checkFanout(
  webhook: Webhook,
  events: readonly FedEvent[],
  deliveries: readonly ShownDelivery[],
  ledger: Ledger,
): void {
  const counts = new Map<string, number>()
  for (const { event_id } of deliveries) counts.set(event_id, (counts.get(event_id) ?? 0) + 1)
  for (const { id, type, mark } of events) {
    if (!webhook.types.includes(type)) continue
    const count = counts.get(id) ?? 0
    ledger.check('fanout.whole', count === 1, () => {
      return `${mark} (${id}) has ${count} deliveries to ${webhook.path}`
    })
  }
}

/**
 * A claim on PostgreSQL waits for no sync, which follows within three times the server's
 * `wal_writer_delay` of 200 ms; until then a crash of the server undoes it.
 */
const UNSYNCED = 1000

/** By how many crashes of the server a claim of what arrived so may have been undone. */
export function undone(came: readonly Arrival[], serverCrashes: readonly Span[]): number {
  return serverCrashes.filter(({ from, until }) =>
    came.some(({ at }) => at >= from - UNSYNCED && at <= until),
  ).length
}

/** What is recorded of a delivery agrees with what arrived. */
export function checkDelivery(
  webhook: Webhook,
  delivery: ShownDelivery,
  came: readonly Arrival[],
  inFlight: number,
  ledger: Ledger,
): void {
  const { id, status, attempts, attempt_count } = delivery
  const said = (): string =>
    `${id} at ${webhook.path}: ${status}, ${attempt_count} attempts ${JSON.stringify(attempts)}, ` +
    `${inFlight} times in flight, arrived ${came.map(({ at, answer }) => `${at}:${answer}`).join(' ')}`
  ledger.check('settled.all', FINAL.has(status), said)
  const numbered = attempts.every(({ number }, index) => number === index + 1)
  const answered = attempts.filter(({ response }) => response !== null).length
  ledger.check(
    'attempts.counted',
    numbered && attempts.length === attempt_count && answered <= came.length,
    said,
  )
  ledger.check('duplicates.bounded', came.length <= attempts.length + inFlight, said)
  ledger.check('duplicates.same', new Set(came.map((one) => one.hash + one.event)).size <= 1, said)
  if (mustArrive(webhook.path)) {
    const arrived = came.some(({ answer }) => answer >= 200 && answer < 300)
    ledger.check('healthy.arrives', status === 'succeeded' && arrived, said)
  }
}

/** States that were seen, against which later ones are held. */
export interface SeenStates {
  look(delivery: ShownDelivery, ledger: Ledger): void
  /** When it was seen to be final; undefined when it was not. */
  finalAt(id: string): number | undefined
}

export function createSeenStates(): SeenStates {
  const seen = new Map<string, string>()
  const final = new Map<string, number>()
  const attemptsIn = (state: string): number => Number(state.split(' ')[1])
  return {
    look({ id, status, attempt_count }, ledger) {
      const state = `${status} ${attempt_count}`
      const before = seen.get(id)
      seen.set(id, state)
      if (FINAL.has(status) && !final.has(id)) final.set(id, Date.now())
      if (before === undefined) return
      const said = (): string => `${id} was ${before} and is ${state}`
      ledger.check('attempts.grow', attempt_count >= attemptsIn(before), said)
      if (FINAL.has(before.split(' ')[0] ?? '')) {
        ledger.check('final.stays', before === state, said)
      }
    },
    finalAt: (id) => final.get(id),
  }
}
