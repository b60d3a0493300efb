import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Timeline } from '../clock/timeline.ts'
import { TIMEOUT } from '../facts.ts'
import type { History, Operation } from '../history.ts'
import type { Ledger } from '../ledger.ts'
import type { Arrival } from '../receiver.ts'

/** What was sent before a change may arrive after it, by an attempt's length and the machine's lag. */
const UNDER_WAY = TIMEOUT + 500

const at = ({ end }: Operation): number => end?.at ?? Number.POSITIVE_INFINITY
const isDone = ({ end }: Operation): boolean => end?.outcome === 'ok'

/** Nothing arrives at what was disabled or deleted. */
export function checkSilence(arrival: Arrival, history: History, ledger: Ledger): void {
  const id = history.webhookAt.get(arrival.path)
  const operations = history.ofWebhook.get(id ?? '') ?? []
  let ended: Operation | undefined
  for (const operation of operations) {
    const { kind } = operation.call.intent
    if (operation.call.at > arrival.at) break
    if (kind === 'webhook.enable') ended = undefined
    else if (kind === 'webhook.disable' || kind === 'webhook.delete') ended = operation
  }
  if (ended === undefined) return
  const isLate = isDone(ended) && arrival.at > at(ended) + UNDER_WAY
  ledger.check('ended.silent', !isLate, () => {
    return `${arrival.delivery} reached ${arrival.path} ${arrival.at - at(ended)} ms after ${ended.call.intent.kind} was acknowledged (op ${ended.call.op})`
  })
}

/** A secret as it may sign: known or not, from the request for it until a rotation ended it. */
export interface Secret {
  readonly value: string | null
  readonly from: number
  readonly certain: number
  readonly ends: readonly Ending[]
}

/** A rotation that was acknowledged. */
interface Ending {
  readonly at: number
  /** What the daemons' clock shows when its overlap is over; null: it ended those before it at once. */
  readonly shown: number | null
}

function secretsOf(operations: readonly Operation[], timeline: Timeline): readonly Secret[] {
  const made = operations.filter(({ call }) => {
    return call.intent.kind === 'webhook.create' || call.intent.kind === 'secret.rotate'
  })
  return made.map((operation, index) => {
    return {
      value: operation.end?.shown ?? null,
      from: operation.call.at,
      certain: isDone(operation) ? at(operation) + UNDER_WAY : Number.POSITIVE_INFINITY,
      ends: made
        .slice(index + 1)
        .filter(isDone)
        .map((later) => endingBy(later, timeline)),
    }
  })
}

function endingBy(rotation: Operation, timeline: Timeline): Ending {
  const { intent, at: from } = rotation.call
  const overlap = intent.kind === 'secret.rotate' ? intent.overlap * 1000 : 0
  const until = at(rotation)
  const shown = until + timeline.offsets({ from, until }).most + overlap
  return { at: until, shown: overlap === 0 ? null : shown }
}

/** Every secret a webhook ever had, first to last; that of a fixture was shown before the journal began. */
export function secretsOver(
  operations: readonly Operation[],
  fixture: string | undefined,
  timeline: Timeline,
): readonly Secret[] {
  if (fixture === undefined) return secretsOf(operations, timeline)
  const known = secretsOf([{ call: NOBODY, end: undefined }, ...operations], timeline)
  return known.map((one, index) =>
    index === 0 ? { ...one, value: fixture, from: 0, certain: 0 } : one,
  )
}

const NOBODY: Operation['call'] = {
  t: 'call',
  op: -1,
  at: 0,
  intent: { kind: 'webhook.create', path: '', types: [] },
}

/** Of what was ended, that many are tried: each is an HMAC of each arrival. */
const ENDED_TRIED = 3

/** The current secret signs what arrives, and none of those that were ended last. */
export function checkSignature(
  arrival: Arrival,
  body: string,
  secrets: readonly Secret[],
  timeline: Timeline,
  ledger: Ledger,
): void {
  // Signed by then, and an attempt's length before at most.
  const { earliest } = timeline.shown({ from: arrival.at - UNDER_WAY, until: arrival.at })
  const isOver = ({ ends }: Secret): boolean =>
    ends.some((one) => one.at + UNDER_WAY < arrival.at && (one.shown ?? -Infinity) < earliest)
  const signs = ({ value }: Secret): boolean => value !== null && isSignedBy(arrival, body, value)
  const begun = secrets.filter(({ from }) => from <= arrival.at)
  const current = begun.at(-1)
  // What is being changed, or was shown in an answer that was lost, says nothing.
  const isKnown = begun.every((one) => one.value !== null || isOver(one))
  if (current !== undefined && isKnown) {
    const may = current.certain < arrival.at ? [current] : begun
    ledger.check('secrets.sign', may.some(signs), () => {
      return `${arrival.delivery} at ${arrival.path}, ${arrival.at}: no current secret signed it`
    })
  }
  const over = begun.filter(isOver)
  for (const ended of over.slice(-ENDED_TRIED)) {
    ledger.check('secrets.sign', !signs(ended), () => {
      return `${arrival.delivery} at ${arrival.path}, ${arrival.at}: signed by a secret that ended: ${JSON.stringify(ended.ends.slice(0, 3))}`
    })
  }
}

function isSignedBy({ signature }: Arrival, body: string, secret: string): boolean {
  const [, time = ''] = /^t=(\d+)/.exec(signature) ?? []
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest()
  return [...signature.matchAll(/v1=([0-9a-f]{64})/g)].some(([, hex = '']) =>
    timingSafeEqual(Buffer.from(hex, 'hex'), expected),
  )
}
