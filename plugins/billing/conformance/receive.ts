import assert from 'node:assert/strict'
import { type Instant, SECOND } from '../../../lib/time.ts'
import {
  type Delivery,
  failureOf,
  idsOf,
  openCheckout,
  type ProcessorCase,
  type ProcessorHarness,
  received,
  refsTaken,
  type Till,
} from './till.ts'

/** An event of a paid checkout, and the checkout that it names. */
async function paidEvent(
  harness: ProcessorHarness,
): Promise<{ readonly delivery: Delivery; readonly session: string }> {
  const { session_id } = await openCheckout(harness, 'topup')
  await harness.till.take()
  await harness.till.pay(session_id)
  for (const delivery of await harness.till.take()) {
    const { refs } = await received(harness, delivery)
    if (refs.some(({ id }) => id === session_id)) return { delivery, session: session_id }
  }
  return assert.fail('no event names the checkout')
}

/** What is wrong with a delivery, by what it is called. */
const BROKEN: Readonly<Record<string, (delivery: Delivery, till: Till, now: Instant) => Delivery>> =
  {
    'of another secret': ({ body }, till, now) => till.forge(body, now),
    'with one byte changed': ({ headers, body }) => ({
      headers,
      body: body.with(body.length - 2, (body.at(-2) ?? 0) ^ 1),
    }),
    'that is truncated': ({ headers, body }) => ({ headers, body: body.slice(0, -1) }),
    'with a byte more': ({ headers, body }) => ({ headers, body: new Uint8Array([...body, 0x20]) }),
    'with a byte order mark': ({ headers, body }) => ({
      headers,
      body: new Uint8Array([0xef, 0xbb, 0xbf, ...body]),
    }),
    'that is empty': ({ headers }) => ({ headers, body: new Uint8Array() }),
    'that is signed and empty': (_, till, now) => till.sign(new Uint8Array(), now),
    'that is signed and no JSON': (_, till, now) => till.sign(Buffer.from('{"id":'), now),
    'that is signed and no UTF-8': (_, till, now) =>
      till.sign(new Uint8Array([0x7b, 0xff, 0x7d]), now),
    'without headers': ({ body }) => ({ headers: {}, body }),
    'with empty headers': ({ headers, body }) => ({ headers: withEach(headers, () => ''), body }),
    'with half a signature': ({ headers, body }) => ({
      headers: withEach(headers, (value) => value.slice(0, value.length / 2)),
      body,
    }),
    'that is 301 s old': ({ body }, till, now) => till.sign(body, now - 301 * SECOND),
    'that is 301 s ahead': ({ body }, till, now) => till.sign(body, now + 301 * SECOND),
  }

function withEach(
  headers: Delivery['headers'],
  change: (value: string) => string,
): Delivery['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value)]))
}

/** The intake of events. */
export const receiveCases: readonly ProcessorCase[] = [
  {
    name: 'receive: a signed event names itself and the objects that changed',
    async run(harness) {
      const { delivery, session } = await paidEvent(harness)
      const event = await received(harness, delivery)
      assert.ok(event.id.length > 0 && event.type.length > 0)
      assert.ok(Number.isSafeInteger(event.created_at))
      assert.ok(Math.abs(event.created_at - harness.now()) < 60 * SECOND)
      assert.ok(event.refs.some(({ kind, id }) => kind === 'checkout' && id === session))
      assert.deepEqual(await received(harness, delivery), event, 'received twice')
    },
  },
  {
    name: 'receive: a signature holds for 300 s, before and after',
    async run(harness) {
      const { delivery } = await paidEvent(harness)
      const now = harness.now()
      for (const age of [-300, 0, 300]) {
        const signed = harness.till.sign(delivery.body, now - age * SECOND)
        await received(harness, signed, now)
      }
    },
  },
  ...Object.entries(BROKEN).map(([what, broken]): ProcessorCase => ({
    name: `receive: an event ${what} is refused`,
    async run(harness) {
      const { delivery } = await paidEvent(harness)
      const now = harness.now()
      const sent = broken(delivery, harness.till, now)
      await failureOf(received(harness, sent, now), 'invalid_signature')
    },
  })),
  {
    name: 'receive: an event of an unknown type names no object',
    async run(harness) {
      assert.deepEqual((await received(harness, harness.till.stray())).refs, [])
    },
  },
  {
    name: 'receive: events of subscriptions, invoices and charges name these',
    requires: 'subscriptions',
    async run(harness) {
      const { session_id } = await openCheckout(harness, 'subscribe')
      await harness.till.pay(session_id)
      const refs = await refsTaken(harness)
      assert.deepEqual(idsOf(refs, 'checkout'), [session_id])
      assert.equal(idsOf(refs, 'subscription').length, 1)
      assert.equal(idsOf(refs, 'invoice').length, 1)
    },
  },
]
