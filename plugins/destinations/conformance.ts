/**
 * The destination's published suite: what every implementation of the contract must show.
 *
 * @example
 * import { test } from 'node:test'
 * import { runCases } from 'keyhook/plugins/conformance'
 * import { destinationCases } from 'keyhook/plugins/destinations/conformance'
 *
 * const makeHarness = async () => ({ destination: createMine(), name: 'orders', received })
 * runCases(destinationCases, makeHarness, (name, run) => void test(name, run))
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { DestinationCase, DestinationHarness } from './conformance/harness.ts'
import { ACCOUNT, NEVER, assertFailed, messageOf } from './conformance/harness.ts'
import { MAX_BODY_BYTES } from './contract.ts'

export type { DestinationCase, DestinationHarness, Received } from './conformance/harness.ts'

/** Names that nobody declares, some of which an implementation may take for a path, an address or a key. */
const UNDECLARED = [
  '',
  'undeclared',
  '.',
  '..',
  '../orders',
  '/etc/passwd',
  'a/b',
  'constructor',
  '__proto__',
  '//127.0.0.1:9',
  '127.0.0.1:9',
  'user:pw@127.0.0.1',
  'a b',
  'a\r\nb',
  'a\0b',
  '*',
  '#',
  'x'.repeat(10_000),
]

async function ids({ received }: DestinationHarness): Promise<readonly string[]> {
  return (await received()).map(({ id }) => id)
}

/** All cases, each on a destination of its own. */
export const destinationCases: readonly DestinationCase[] = [
  {
    name: 'describe: a type that a url can have, and every name is valid',
    async run({ destination, name }) {
      const { type, names } = destination.describe()
      assert.match(type, /^[a-z][a-z0-9-]{0,31}$/)
      assert.ok(names.includes(name))
      for (const one of names) {
        assert.match(one, /^[a-z][a-z0-9._-]{0,63}$/)
        assert.equal(destination.validate(one, ACCOUNT), true, one)
      }
    },
  },
  {
    name: 'validate: no name that is not declared',
    async run({ destination }) {
      for (const name of UNDECLARED) assert.equal(destination.validate(name, ACCOUNT), false, name)
    },
  },
  {
    name: 'send: a name that is not declared is refused, and nothing arrives',
    async run(harness) {
      const { destination } = harness
      for (const name of UNDECLARED) {
        const outcome = await destination.send(messageOf({ name }), NEVER)
        assert.deepEqual(
          { ...outcome, internal: undefined },
          { ok: false, code: 'destination', cause: 'undeclared', internal: undefined },
          name,
        )
      }
      assert.deepEqual(await ids(harness), [])
    },
  },
  {
    name: 'send: the consumer gets the same bytes, the id, the type and the headers',
    async run(harness) {
      const every = Uint8Array.from({ length: 256 }, (_, byte) => byte)
      const room = new Uint8Array(300).fill(7)
      room.set(every, 20)
      // A view into a larger buffer, as bodies are.
      const message = messageOf(harness, { body: room.subarray(20, 276) })
      assert.deepEqual(await harness.destination.send(message, NEVER), { ok: true })
      const [got, ...more] = await harness.received()
      assert.ok(got !== undefined && more.length === 0)
      assert.equal(got.id, message.id)
      assert.equal(got.type, message.type)
      assert.deepEqual(Uint8Array.from(got.body), every)
      for (const [name, value] of Object.entries(message.headers)) {
        assert.equal(got.headers[name], value, name)
      }
    },
  },
  {
    name: 'send: the largest body arrives whole, and so does an empty one',
    async run(harness) {
      for (const length of [MAX_BODY_BYTES, 0]) {
        const body = new Uint8Array(length).fill(123)
        const outcome = await harness.destination.send(messageOf(harness, { body }), NEVER)
        assert.deepEqual(outcome, { ok: true })
      }
      const sizes = (await harness.received()).map(({ body }) => body.length)
      assert.deepEqual(
        sizes.sort((a, b) => a - b),
        [0, MAX_BODY_BYTES],
      )
    },
  },
  {
    name: 'send: what the caller writes over the body afterwards does not arrive',
    async run(harness) {
      const message = messageOf(harness, { body: new Uint8Array(1000).fill(1) })
      assert.deepEqual(await harness.destination.send(message, NEVER), { ok: true })
      message.body.fill(2)
      const [got] = await harness.received()
      assert.ok(got?.body.every((byte) => byte === 1))
    },
  },
  {
    name: 'send: calls that overlap do not mix, and each that succeeded arrived',
    async run(harness) {
      const messages = Array.from({ length: 200 }, () => messageOf(harness))
      const outcomes = await Promise.all(
        messages.map((message) => harness.destination.send(message, NEVER)),
      )
      assert.ok(outcomes.every(({ ok }) => ok))
      const received = await harness.received()
      assert.equal(received.length, messages.length)
      for (const { id, headers, body } of messages) {
        const got = received.find((one) => one.id === id)
        assert.equal(got?.headers['X-Service-Delivery-ID'], headers['X-Service-Delivery-ID'])
        assert.deepEqual(Uint8Array.from(got?.body ?? []), body)
      }
    },
  },
  {
    name: 'send: a repeat is no error, and has the same id',
    async run(harness) {
      const message = messageOf(harness)
      for (let attempt = 0; attempt < 2; attempt += 1) {
        assert.deepEqual(await harness.destination.send(message, NEVER), { ok: true })
      }
      assert.deepEqual([...new Set(await ids(harness))], [message.id])
    },
  },
  {
    name: 'send: the headers of two attempts may differ, and none is remembered',
    async run(harness) {
      const first = messageOf(harness)
      const second = messageOf(harness, { headers: { 'Service-Signature': 't=2,v1=b' } })
      for (const one of [first, second]) {
        assert.deepEqual(await harness.destination.send(one, NEVER), { ok: true })
      }
      const got = (await harness.received()).find(({ id }) => id === second.id)
      assert.equal(got?.headers['Service-Signature'], 't=2,v1=b')
      assert.equal(got?.headers['X-Service-Event'], undefined)
    },
  },
  {
    name: 'send: what the destination does not take has failed, and did not arrive',
    requires: 'refuses',
    async run(harness) {
      assert.ok(harness.refuse)
      await harness.refuse()
      const outcome = await harness.destination.send(messageOf(harness), NEVER)
      assertFailed(outcome, 'destination')
      assert.deepEqual(await ids(harness), [])
    },
  },
  {
    name: 'send: a server that is away is a failure, and is reached once it is back',
    requires: 'server',
    async run(harness) {
      assert.ok(harness.stop && harness.restart)
      const { destination } = harness
      const before = messageOf(harness)
      assert.deepEqual(await destination.send(before, NEVER), { ok: true })
      await harness.stop()
      const lost = await destination.send(messageOf(harness), NEVER)
      assertFailed(lost, 'connect', 'reset', 'timeout', 'dns', 'tls')
      await harness.restart()
      const after = messageOf(harness)
      assert.deepEqual(await destination.send(after, NEVER), { ok: true })
      assert.ok((await ids(harness)).includes(after.id))
    },
  },
  {
    name: 'abort: before a send nothing is sent',
    async run(harness) {
      const signal = AbortSignal.abort(new Error('nobody waits'))
      assertFailed(await harness.destination.send(messageOf(harness), signal), 'aborted')
      assert.deepEqual(await ids(harness), [])
    },
  },
  {
    name: 'abort: it ends a send that hangs, and not those after it',
    requires: 'hangs',
    async run(harness) {
      assert.ok(harness.hang)
      await harness.hang()
      const abort = new AbortController()
      const sending = harness.destination.send(messageOf(harness), abort.signal)
      abort.abort(new Error('nobody waits'))
      assertFailed(await sending, 'aborted')
    },
  },
  {
    name: 'close: refuses what comes after, and may be called again',
    async run(harness) {
      const { destination } = harness
      assert.deepEqual(await destination.send(messageOf(harness), NEVER), { ok: true })
      await destination.close()
      assertFailed(await destination.send(messageOf(harness), NEVER), 'aborted')
      await destination.close()
      assert.equal((await harness.received()).length, 1)
    },
  },
  {
    name: 'close: ends what hangs',
    requires: 'hangs',
    async run(harness) {
      assert.ok(harness.hang)
      await harness.hang()
      const sending = harness.destination.send(messageOf(harness), NEVER)
      await harness.destination.close()
      assertFailed(await sending, 'aborted')
    },
  },
]
