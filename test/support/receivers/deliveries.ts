import { serializeEvent } from '../../../lib/webhook/event.ts'
import { signatureHeader, standardSignature } from '../../../lib/webhook/sign.ts'
import type { SentHeaders } from './send.ts'

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
export const OLD_SECRET = `whsec_${'A'.repeat(32)}`
/** One that no receiver knows. */
const FOREIGN_SECRET = `whsec_${'B'.repeat(32)}`
const LONGEST_BODY = 262_144

export type Form = 'service' | 'standard'

/** Unix time in seconds. */
export const unixNow = (): number => Math.floor(Date.now() / 1000)

/** The headers that sign a body, in either form. */
export function sign(
  form: Form,
  body: Uint8Array,
  secrets: readonly string[] = [SECRET],
  now = unixNow(),
): SentHeaders {
  if (form === 'service') return { 'Service-Signature': signatureHeader(now, body, secrets) }
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(now),
    'webhook-signature': standardSignature('evt_1', now, body, secrets),
  }
}

export interface Delivery {
  /** Id of its event. */
  readonly id: string
  /** Statuses that it may be answered with. */
  readonly answers: readonly (number | 'closed')[]
  /** Default: a short event. */
  readonly body?: Uint8Array
  /** Default: those of `sign`, by the receiver's secret, now. */
  readonly headers?: Signer
}

type Signer = (form: Form, body: Uint8Array) => SentHeaders

const TAKEN = [204]
const REFUSED = [400]

export const isTaken = ({ answers }: Delivery): boolean => answers === TAKEN

const short = (id: string): Uint8Array => eventOf(id, { note: 'paid' })

const eventOf = (id: string, data: Record<string, unknown>): Uint8Array =>
  serializeEvent({ id, type: 'order.paid', created_at: Date.now(), data })

function eventOfLength(id: string, length: number): Uint8Array {
  const note = 'x'.repeat(length - eventOf(id, { note: '' }).length)
  return eventOf(id, { note })
}

const text = (body: string): Uint8Array => Buffer.from(body)

/** Each has what a parser of some language reads otherwise, or a sender prints otherwise. */
const AWKWARD = [
  ['evt_not_ascii', String.raw`{"note":"Grüße, 世界 🎉","é":"é"}`],
  ['evt_escapes', String.raw`{"note":"\ud83c\udf89 \u00fc \\ \" \/ \u0000 \u2028","\u0061":1}`],
  [
    'evt_numbers',
    '{"large":12345678901234567890123,"long":9007199254740993,"small":0.1000000000000000055511151231257827,"exponent":1E-7}',
  ],
  ['evt_nothing', '{ "note" : null , "empty" : { } , "list" : [ [ ] , "" , false ] }\n'],
] as const

const awkward = ([id, data]: (typeof AWKWARD)[number]): Delivery => ({
  id,
  answers: TAKEN,
  body: text(
    String.raw`{"data":${data},"created_at":"2026-01-31T12:00:00.000Z","type":"order\u002epaid", "id":"${id}"}`,
  ),
})

const signedBy =
  (...secrets: readonly string[]): Signer =>
  (form, body) =>
    sign(form, body, secrets)

const signedAgo =
  (seconds: number): Signer =>
  (form, body) =>
    sign(form, body, [SECRET], unixNow() - seconds)

/** A rotation in mid-stream: what is sent before it, during its day, and after it. */
const ROTATION: readonly Delivery[] = [
  { id: 'evt_before', answers: TAKEN, headers: signedBy(OLD_SECRET) },
  { id: 'evt_rotated', answers: TAKEN, headers: signedBy(SECRET, OLD_SECRET) },
  { id: 'evt_after', answers: TAKEN, headers: signedBy(SECRET) },
  { id: 'evt_next', answers: TAKEN, headers: signedBy(FOREIGN_SECRET, SECRET) },
]

/** Signed as it should be, and no event. */
const UNPARSEABLE: readonly Delivery[] = [
  '{"id":"evt_cut","type":"order.paid","data":{',
  '{"id":"evt_bare","type":order.paid}',
  '{}',
  'null',
  '[]',
  'evt_text order.paid',
  '',
].map((body, index) => ({ id: `evt_unparseable_${index}`, answers: REFUSED, body: text(body) }))

const spoiled =
  (change: (value: string, name: string) => string | readonly string[]): Signer =>
  (form, body) =>
    Object.fromEntries(
      Object.entries(sign(form, body)).map(([name, value]) => [name, change(String(value), name)]),
    )

const isSignature = (name: string): boolean => name.endsWith('ignature')

const HOSTILE: readonly Delivery[] = [
  { id: 'evt_missing', answers: REFUSED, headers: () => ({}) },
  { id: 'evt_empty', answers: REFUSED, headers: spoiled(() => '') },
  {
    id: 'evt_tampered',
    answers: REFUSED,
    headers: (form, body) => sign(form, body.with(-3, body.at(-3) === 0x20 ? 0x21 : 0x20)),
  },
  { id: 'evt_stale', answers: REFUSED, headers: signedAgo(600) },
  { id: 'evt_ahead', answers: REFUSED, headers: signedAgo(-600) },
  { id: 'evt_foreign', answers: REFUSED, headers: signedBy(FOREIGN_SECRET) },
  {
    id: 'evt_doubled',
    answers: REFUSED,
    headers(form, body) {
      const [foreign, own] = [sign(form, body, [FOREIGN_SECRET]), sign(form, body)]
      const doubled = Object.keys(own).filter(isSignature)
      const thrice = (name: string) => [foreign[name], own[name], foreign[name]].map(String)
      return { ...own, ...Object.fromEntries(doubled.map((name) => [name, thrice(name)])) }
    },
  },
  {
    id: 'evt_not_hex',
    answers: REFUSED,
    headers: spoiled((value, name) =>
      isSignature(name) ? value.replaceAll(/[0-9a-f](?=[^,]*$)/g, 'z') : value,
    ),
  },
  {
    id: 'evt_no_signature',
    answers: REFUSED,
    headers: spoiled((value, name) => (isSignature(name) ? 'v1' : value)),
  },
  {
    id: 'evt_not_a_number',
    answers: REFUSED,
    headers: spoiled((value) => value.replace(String(unixNow()).slice(0, 6), 'never')),
  },
]

const SIZES: readonly Delivery[] = [
  { id: 'evt_longest', answers: TAKEN, body: eventOfLength('evt_longest', LONGEST_BODY) },
  { id: 'evt_too_long', answers: [413], body: eventOfLength('evt_too_long', LONGEST_BODY + 1) },
  // A receiver may hang up before it has read this much, and what it answered may be lost.
  {
    id: 'evt_far_too_long',
    answers: [413, 'closed'],
    body: eventOfLength('evt_far_too_long', 16 * LONGEST_BODY),
  },
]

/** What a receiver with both secrets gets, hostile deliveries between the genuine ones. */
export const DELIVERIES: readonly Delivery[] = [
  ...ROTATION.slice(0, 1),
  ...HOSTILE,
  ...AWKWARD.map(awkward),
  ...ROTATION.slice(1),
  ...UNPARSEABLE,
  ...SIZES,
  { id: 'evt_last', answers: TAKEN },
]

export const bodyOf = ({ id, body }: Delivery): Uint8Array => body ?? short(id)
