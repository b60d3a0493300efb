import type { Stripe } from 'stripe'
import { isObject } from '../../../lib/internal/arguments.ts'
import { SECOND } from '../../../lib/time.ts'
import {
  type ChangedObject,
  type IncomingEvent,
  type ObjectKind,
  ProcessorError,
  type ReceivedEvent,
} from '../contract.ts'
import { instantOf } from './map.ts'
import { EVENT } from './shapes.ts'

/** Where an event names the object that changed: itself, or the charge that it is about. */
interface Subject {
  readonly kind: ObjectKind
  readonly field: 'id' | 'charge'
}

const CHECKOUT: Subject = { kind: 'checkout', field: 'id' }
const INVOICE: Subject = { kind: 'invoice', field: 'id' }
const SUBSCRIPTION: Subject = { kind: 'subscription', field: 'id' }
const CHARGE: Subject = { kind: 'charge', field: 'id' }
const OF_CHARGE: Subject = { kind: 'charge', field: 'charge' }

/** Events that name an object of ours; others are received and name none. */
const SUBJECTS = {
  'checkout.session.completed': CHECKOUT,
  'checkout.session.async_payment_succeeded': CHECKOUT,
  'checkout.session.async_payment_failed': CHECKOUT,
  'checkout.session.expired': CHECKOUT,
  'invoice.paid': INVOICE,
  'invoice.payment_failed': INVOICE,
  'invoice.finalized': INVOICE,
  'invoice.voided': INVOICE,
  'invoice.marked_uncollectible': INVOICE,
  'invoice.updated': INVOICE,
  'customer.subscription.created': SUBSCRIPTION,
  'customer.subscription.updated': SUBSCRIPTION,
  'customer.subscription.deleted': SUBSCRIPTION,
  'charge.refunded': CHARGE,
  'refund.created': OF_CHARGE,
  'refund.updated': OF_CHARGE,
  'refund.failed': OF_CHARGE,
  'charge.dispute.created': OF_CHARGE,
  'charge.dispute.funds_withdrawn': OF_CHARGE,
  'charge.dispute.funds_reinstated': OF_CHARGE,
} as const satisfies Partial<Readonly<Record<Stripe.Event['type'], Subject>>>

/** Types that `GET /v1/events` is asked for: it takes at most 20. */
export const EVENT_TYPES: readonly string[] = Object.keys(SUBJECTS)

/** Objects that an event names. */
export function refsOf(type: string, object: Readonly<Record<string, unknown>>): ChangedObject[] {
  const subject = (SUBJECTS as Readonly<Record<string, Subject>>)[type]
  if (subject === undefined) return []
  const { kind, field } = subject
  const id = idOf(object[field])
  if (typeof id !== 'string' || id === '') return []
  const customer = field === 'id' ? idOf(object['customer']) : undefined
  return [{ kind, id, ...(isCustomer(customer) ? { customer_id: customer } : {}) }]
}

/** Of an id, or of the object in its place. */
function idOf(named: unknown): unknown {
  return isObject(named) ? named['id'] : named
}

function isCustomer(id: unknown): id is string | null {
  return id === null || typeof id === 'string'
}

/** Seconds that a signature's time may lie from now, before and after. */
const TOLERANCE = 300

/** The library decodes bytes that are no UTF-8, and drops a byte order mark, before it checks. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Checks a signature by any of the secrets, and reads the event.
 *
 * @throws ProcessorError `invalid_signature`; `unavailable` for a signed event of another form
 */
export async function receiveEvent(
  webhooks: Pick<Stripe['webhooks'], 'constructEventAsync'>,
  secrets: readonly string[],
  { headers, body, now }: IncomingEvent,
): Promise<ReceivedEvent> {
  const header = headers['stripe-signature'] ?? ''
  const text = textOf(body)
  // The library checks only that a signature is not too old.
  if (text === '' || !(timeOf(header) - Math.floor(now / SECOND) <= TOLERANCE)) throw refused()
  for (const secret of secrets) {
    const event = await signedBy(() =>
      webhooks.constructEventAsync(text, header, secret, TOLERANCE, undefined, now),
    )
    if (event !== undefined) return read(event)
  }
  throw refused()
}

/** Seconds; NaN unless the header has exactly one time. */
function timeOf(header: string): number {
  const times = header.split(',').filter((part) => part.trim().startsWith('t='))
  return times.length === 1 ? Number(/^t=(\d{1,12})$/.exec(times[0] ?? '')?.[1] ?? NaN) : NaN
}

function textOf(body: Uint8Array): string {
  try {
    return UTF8.decode(body)
  } catch {
    return ''
  }
}

/** The library's errors repeat the body, so they are not kept. */
async function signedBy(construct: () => Promise<unknown>): Promise<unknown> {
  try {
    return await construct()
  } catch {
    return undefined
  }
}

function read(event: unknown): ReceivedEvent {
  const result = EVENT.safeParse(event)
  if (!result.success) {
    throw new ProcessorError('unavailable', { internal: 'a signed event of another form' })
  }
  const { id, type, created, data } = result.data
  const refs = refsOf(type, data.object).map(({ kind, id: named }) => ({ kind, id: named }))
  return { id, type, created_at: instantOf(created), refs }
}

function refused(): ProcessorError {
  return new ProcessorError('invalid_signature')
}
