import { utf8 } from '../internal/bytes.ts'
import { toIso, type Instant } from '../time.ts'

/** Every event id begins with it. */
export const EVENT_ID_PREFIX = 'evt_'

/** An event is at most 256 KiB, counted over the bytes that are sent. */
export const MAX_EVENT_BYTES = 262_144

/** What a receiver finds in the body of a delivery. */
export interface EventEnvelope {
  readonly id: string
  readonly type: string
  /** ISO 8601, UTC, with `Z`. */
  readonly created_at: string
  readonly data: object
}

/** Crockford base32: no i, l, o, u; its digits sort as their values do. */
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_DIGITS = 10
const TIME_LIMIT = 2 ** 48
const RANDOM_BYTES = 10

/**
 * Mints an event id: `evt_` and 26 lower-case base32 digits of 48 bits of time and 80 random bits.
 *
 * Ids sort bytewise by their millisecond; within one millisecond their order is random.
 *
 * @throws TypeError when `now` is no instant between 1970 and 10889, or `random` gives another
 * number of bytes than it was asked for.
 * @example
 * createEventId(1_700_000_000_000, randomBytes) // 'evt_01hf7yat00…'
 */
export function createEventId(now: Instant, random: (n: number) => Uint8Array): string {
  if (!Number.isSafeInteger(now) || now < 0 || now >= TIME_LIMIT) {
    throw new TypeError('now must be whole milliseconds within 48 bits')
  }
  const bytes = random(RANDOM_BYTES)
  if (bytes.length !== RANDOM_BYTES) throw new TypeError('random() must give 10 bytes')
  return EVENT_ID_PREFIX + timeDigits(now) + randomDigits(bytes)
}

/** Many ids are made within a millisecond. */
let last = { now: -1, digits: '' }

function timeDigits(now: Instant): string {
  if (now === last.now) return last.digits
  let digits = ''
  let rest = now
  for (let place = 0; place < TIME_DIGITS; place += 1) {
    digits = BASE32.charAt(rest % 32) + digits
    rest = Math.floor(rest / 32)
  }
  last = { now, digits }
  return digits
}

function randomDigits(bytes: Uint8Array): string {
  let digits = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      digits += BASE32.charAt((held >> bits) & 31)
    }
  }
  return digits
}

/** What `isEventId` accepts. */
export const EVENT_ID = /^evt_[A-Za-z0-9_]{1,64}$/

/**
 * Says whether a caller may give `text` as an event's id: `evt_` and 1 to 64 letters, digits or `_`.
 *
 * @example
 * isEventId('evt_order_42') // true
 * isEventId('evt_4.2') // false: a dot would make the signed text ambiguous
 */
export function isEventId(text: string): boolean {
  return EVENT_ID.test(text)
}

/** What `isEventType` accepts, up to 100 characters. */
export const EVENT_TYPE = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*){1,3}$/
const MAX_TYPE_LENGTH = 100

/**
 * Says whether `text` is an event type: 2 to 4 lower-case segments joined by dots, at most 100
 * characters.
 *
 * @example
 * isEventType('order.line_item.added') // true
 * isEventType('order') // false
 */
export function isEventType(text: string): boolean {
  return text.length <= MAX_TYPE_LENGTH && EVENT_TYPE.test(text)
}

/** What is serialised: `data` as raw JSON text of an object is taken verbatim. */
export interface EventToSerialize {
  readonly id: string
  readonly type: string
  readonly created_at: Instant
  readonly data: string | object
}

/**
 * Serialises an event once, to the bytes that are stored, signed and sent for ever:
 * `{"id":…,"type":…,"created_at":…,"data":…}`.
 *
 * `data` given as text keeps every byte of the caller: its spaces, key order and number forms. It
 * must be JSON of an object, judged before. The length is not judged: compare it with
 * `MAX_EVENT_BYTES`.
 *
 * @throws TypeError when `data` cannot be written as JSON; RangeError when `created_at` is no date.
 * @example
 * serializeEvent({ id: 'evt_1', type: 'order.paid', created_at: 0, data: '{"total": 1.50}' })
 * // bytes of {"id":"evt_1","type":"order.paid","created_at":"1970-01-01T00:00:00.000Z","data":{"total": 1.50}}
 */
export function serializeEvent(event: EventToSerialize): Uint8Array {
  const data = typeof event.data === 'string' ? event.data : printData(event.data)
  const id = JSON.stringify(event.id)
  const type = JSON.stringify(event.type)
  return utf8(
    `{"id":${id},"type":${type},"created_at":"${toIso(event.created_at)}","data":${data}}`,
  )
}

function printData(data: object): string {
  const printed: string | undefined = JSON.stringify(data)
  if (printed === undefined) throw new TypeError('data must be a JSON object')
  return printed
}
