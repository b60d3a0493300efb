import { equalBytes, utf8 } from '../internal/bytes.ts'
import { toIso, type Instant } from '../time.ts'

/** Prefix of every event id. */
export const EVENT_ID_PREFIX = 'evt_'

/** Maximum size of an event: 256 KiB of serialized bytes. */
export const MAX_EVENT_BYTES = 262_144

/** The body of a delivery. */
export interface EventEnvelope {
  readonly id: string
  readonly type: string
  /** ISO 8601, UTC, with `Z`. */
  readonly created_at: string
  readonly data: object
}

/** Crockford base32: without i, l, o and u. The digits sort like their values. */
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_DIGITS = 10
const TIME_LIMIT = 2 ** 48
const RANDOM_BYTES = 10

/**
 * Creates an event id: `evt_` and 26 lower-case base32 digits of 48 bits of time and 80 random bits.
 *
 * Ids sort bytewise by their millisecond; within one millisecond their order is random.
 *
 * @throws TypeError when `now` is not an instant between 1970 and 10889, or `random` does not return the
 *   requested number of bytes
 * @example
 * createEventId(1_700_000_000_000, randomBytes) // 'evt_01hf7yat00…'
 */
export function createEventId(now: Instant, random: (n: number) => Uint8Array): string {
  if (!Number.isSafeInteger(now) || now < 0 || now >= TIME_LIMIT) {
    throw new TypeError('now must be whole milliseconds within 48 bits')
  }
  const bytes = random(RANDOM_BYTES)
  if (bytes.length !== RANDOM_BYTES) throw new TypeError('random() must return 10 bytes')
  return EVENT_ID_PREFIX + timeDigits(now) + randomDigits(bytes)
}

/** Cached: many ids are created within one millisecond. */
let last = { now: -1, digits: '' }

function timeDigits(now: Instant): string {
  if (now === last.now) return last.digits
  let digits = ''
  let rest = now
  for (let count = 0; count < TIME_DIGITS; count += 1) {
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

/** The pattern of `isEventId`. */
export const EVENT_ID = /^evt_[A-Za-z0-9_]{1,64}$/

/**
 * Whether a text is an event id: `evt_` and 1 to 64 letters, digits or `_`.
 *
 * @example
 * isEventId('evt_order_42') // true
 * isEventId('evt_4.2') // false: a dot would make the signed text ambiguous
 */
export function isEventId(text: string): boolean {
  return EVENT_ID.test(text)
}

/** The pattern of `isEventType`, without its maximum of 100 characters. */
export const EVENT_TYPE = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*){1,3}$/
const MAX_TYPE_LENGTH = 100

/**
 * Whether a text is an event type: 2 to 4 lower-case segments joined by dots, at most 100 characters.
 *
 * @example
 * isEventType('order.line_item.added') // true
 * isEventType('order') // false
 */
export function isEventType(text: string): boolean {
  return text.length <= MAX_TYPE_LENGTH && EVENT_TYPE.test(text)
}

export interface EventToSerialize {
  readonly id: string
  readonly type: string
  readonly created_at: Instant
  /** An object, or the JSON text of one, which is copied verbatim. */
  readonly data: string | object
}

/**
 * Serializes an event once, to the bytes that are stored, signed and sent in every attempt:
 * `{"id":…,"type":…,"created_at":…,"data":…}`.
 *
 * `data` given as text keeps every byte: spaces, key order and number forms. The caller checks before
 * that the text is the JSON of an object, and after that the result has at most `MAX_EVENT_BYTES`.
 *
 * @throws TypeError when `data` cannot be written as JSON
 * @throws RangeError when `created_at` is not a date
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

interface ComparedEvent {
  readonly type: string
  readonly app_id: string | null
  readonly body: Uint8Array
}

const DATA_FIELD = ',"data":'
/** An id has at most 68 characters and a type 100, so the data begins within these bytes. */
const HEAD_BYTES = 512
const decoder = new TextDecoder()

/**
 * Whether two events with one id are the same: type, app and data. Their `created_at` may differ, since a
 * caller that retries creates the event again.
 */
export function sameEvent(a: ComparedEvent, b: ComparedEvent): boolean {
  return a.type === b.type && a.app_id === b.app_id && equalBytes(dataOf(a.body), dataOf(b.body))
}

/** The bytes from the data on. Ids, types and instants contain no quote, so the first match is the field. */
function dataOf(body: Uint8Array): Uint8Array {
  const head = decoder.decode(body.subarray(0, HEAD_BYTES))
  return body.subarray(head.indexOf(DATA_FIELD))
}
