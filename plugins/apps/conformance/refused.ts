import assert from 'node:assert/strict'
import type { AppBytes } from '../contract.ts'
import {
  APP,
  type AppBytesCase,
  assertBytes,
  assertNothing,
  bytesOf,
  collect,
  listOf,
  manyBytes,
  sha256Of,
  type Watched,
  watched,
} from './samples.ts'

const TOO_LARGE = { code: 'bytes_too_large' }
const CHUNKS = Array.from({ length: 4 }, (_, index) => manyBytes(100_000 + index))
const never = (): Promise<never> => new Promise(() => undefined)
const done = async (): Promise<IteratorReturnResult<undefined>> => ({
  done: true,
  value: undefined,
})

/** Puts under an app of its own, which must not be there afterwards. */
async function assertRefused(
  bytes: AppBytes,
  put: Promise<unknown>,
  reason: object,
  stream?: Watched,
): Promise<void> {
  await assert.rejects(put, reason)
  await assertNothing(bytes)
  if (stream !== undefined) assert.ok(stream.ended, 'the stream is told that it is over')
}

export const refusedCases: readonly AppBytesCase[] = [
  {
    name: 'limit: refuses a stream as soon as it is beyond, and leaves nothing',
    async run({ open }) {
      const bytes = await open()
      const stream = watched(CHUNKS, never)
      await assertRefused(bytes, bytes.put(APP, stream, { limit: 250_000 }), TOO_LARGE, stream)
      assert.equal(stream.asked, 3, 'no chunk is asked for in vain')
    },
  },
  {
    name: 'limit: so many bytes are kept, one more is refused, be it of a buffer or a stream',
    async run({ open }) {
      const bytes = await open()
      const ten = bytesOf('0123456789')
      await assertRefused(bytes, bytes.put(APP, ten, { limit: 9 }), TOO_LARGE)
      await assertRefused(bytes, bytes.put(APP, watched([ten], done), { limit: 9 }), TOO_LARGE)
      assert.equal((await bytes.put(APP, ten, { limit: 10 })).size, 10)
      assert.equal((await bytes.put(APP, watched([ten], done), { limit: 10 })).size, 10)
    },
  },
  {
    name: 'signal: aborted before, nothing is read',
    async run({ open }) {
      const bytes = await open()
      const reason = new Error('changed my mind')
      const stream = watched(CHUNKS, done)
      const signal = AbortSignal.abort(reason)
      await assertRefused(bytes, bytes.put(APP, stream, { signal }), reason)
      await assertRefused(bytes, bytes.put(APP, bytesOf('x'), { signal }), reason)
      assert.equal(stream.asked, 0)
    },
  },
  {
    name: 'signal: ends a stream that stalls, and leaves nothing',
    async run({ open }) {
      const bytes = await open()
      const controller = new AbortController()
      const reason = new Error('nobody waits any more')
      const stream = watched(CHUNKS, () => {
        setImmediate(() => {
          controller.abort(reason)
        })
        return never()
      })
      const put = bytes.put(APP, stream, { signal: controller.signal })
      await assertRefused(bytes, put, reason, stream)
    },
  },
  {
    name: 'signal: one that aborts afterwards changes nothing',
    async run({ open }) {
      const bytes = await open()
      const controller = new AbortController()
      const { signal } = controller
      const { sha256 } = await bytes.put(APP, watched([bytesOf('x')], done), { signal })
      controller.abort()
      assertBytes(await bytes.get(APP, sha256), bytesOf('x'))
    },
  },
  {
    name: 'put: a stream that throws is passed on as it is, and leaves nothing',
    async run({ open }) {
      const bytes = await open()
      const cause = Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' })
      const stream = watched(CHUNKS, () => Promise.reject(cause))
      await assertRefused(bytes, bytes.put(APP, stream), cause)
    },
  },
  {
    name: 'put: a stream of anything but bytes is refused, and leaves nothing',
    async run({ open }) {
      const bytes = await open()
      const stream = watched(['text' as unknown as Uint8Array], done)
      await assertRefused(bytes, bytes.put(APP, stream), TypeError, stream)
    },
  },
  {
    name: 'put: one that fails leaves alone what is kept, the very same bytes included',
    async run({ open, pass }) {
      const bytes = await open()
      const same = bytesOf('0123456789')
      await bytes.put(APP, same)
      const before = await listOf(bytes)
      await pass(10)
      await assert.rejects(bytes.put(APP, watched([same], never), { limit: 5 }), TOO_LARGE)
      const cause = new Error('cut')
      await assert.rejects(
        bytes.put(
          APP,
          watched([same], () => Promise.reject(cause)),
        ),
        cause,
      )
      assert.deepEqual(await listOf(bytes), before)
      assert.deepEqual(await collect(bytes.apps()), [APP])
      assertBytes(await bytes.get(APP, sha256Of(same)), same)
    },
  },
]
