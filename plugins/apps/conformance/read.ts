import assert from 'node:assert/strict'
import type { ByteRange } from '../contract.ts'
import {
  APP,
  type AppBytesCase,
  assertBytes,
  bytesOf,
  listOf,
  manyBytes,
  OTHER,
  readAll,
  sha256Of,
} from './samples.ts'

const SIZE = 600_000

const RANGES: Readonly<Record<string, ByteRange>> = {
  'the start': { start: 0, end: 10 },
  'the middle': { start: 262_140, end: 262_150 },
  'more than a chunk': { start: 1, end: 599_999 },
  'the last byte': { start: SIZE - 1, end: SIZE },
  all: { start: 0, end: SIZE },
  'past the end': { start: SIZE - 5, end: SIZE + 100 },
  'from the end on': { start: SIZE, end: SIZE + 1 },
  'beyond the end': { start: SIZE + 10, end: Number.MAX_SAFE_INTEGER },
  'nothing at the start': { start: 0, end: 0 },
  'nothing in the middle': { start: 300_000, end: 300_000 },
}

const NO_RANGES: readonly ByteRange[] = [
  { start: -1, end: 1 },
  { start: 2, end: 1 },
  { start: 0.5, end: 1 },
  { start: 0, end: Infinity },
  { start: NaN, end: 1 },
]

export const readCases: readonly AppBytesCase[] = [
  {
    name: 'get, open: what is not kept is undefined, in an app that is there and in one that is not',
    async run({ open }) {
      const bytes = await open()
      const unknown = sha256Of(bytesOf('never put'))
      await bytes.put(APP, bytesOf('x'))
      for (const app of [APP, OTHER]) {
        assert.equal(await bytes.get(app, unknown), undefined)
        assert.equal(await bytes.open(app, unknown), undefined)
        assert.equal(await bytes.open(app, unknown, { start: 0, end: 1 }), undefined)
      }
    },
  },
  {
    name: 'get, open: apps see nothing of each other, not even the same bytes',
    async run({ open }) {
      const bytes = await open()
      const { sha256 } = await bytes.put(APP, bytesOf('mine'))
      assert.equal(await bytes.get(OTHER, sha256), undefined)
      assert.equal(await bytes.open(OTHER, sha256), undefined)
      assert.deepEqual(await listOf(bytes, OTHER), [])
      assert.equal(await bytes.remove(OTHER, [sha256], Number.MAX_SAFE_INTEGER), 0)
      await bytes.put(OTHER, bytesOf('mine'))
      assert.equal(await bytes.remove(OTHER, [sha256], Number.MAX_SAFE_INTEGER), 1)
      assertBytes(await bytes.get(APP, sha256), bytesOf('mine'))
    },
  },
  {
    name: 'open: ranges, cut to what there is',
    async run({ open }) {
      const bytes = await open()
      const much = manyBytes(SIZE)
      const { sha256 } = await bytes.put(APP, much)
      for (const [name, range] of Object.entries(RANGES)) {
        const part = await readAll(await bytes.open(APP, sha256, range))
        const expected = much.subarray(range.start, range.end)
        assert.equal(Buffer.compare(part, expected), 0, name)
      }
    },
  },
  {
    name: 'open: what is no range is refused, whether the bytes are kept or not',
    async run({ open }) {
      const bytes = await open()
      const { sha256 } = await bytes.put(APP, bytesOf('0123456789'))
      for (const range of NO_RANGES) {
        await assert.rejects(bytes.open(APP, sha256, range), TypeError)
        await assert.rejects(bytes.open(OTHER, sha256, range), TypeError)
      }
    },
  },
  {
    name: 'open: two concurrent readers are independent, also when one stops early',
    async run({ open }) {
      const bytes = await open()
      const much = manyBytes(SIZE)
      const { sha256 } = await bytes.put(APP, much)
      const stopped = async (): Promise<void> => {
        for await (const chunk of (await bytes.open(APP, sha256)) ?? []) {
          assert.ok(chunk.length > 0)
          break
        }
      }
      const readers = [1, 2, 3].map(async () => readAll(await bytes.open(APP, sha256)))
      await Promise.all([...readers, stopped()])
      for (const reader of readers) assertBytes(await reader, much)
      assertBytes(await bytes.get(APP, sha256), much)
    },
  },
  {
    name: 'open: removed while it is read, it gives all or ends with an error, never less',
    async run({ open }) {
      const bytes = await open()
      const much = manyBytes(SIZE)
      const { sha256 } = await bytes.put(APP, much)
      const [late, early] = [await bytes.open(APP, sha256), await bytes.open(APP, sha256)]
      const reader = early?.[Symbol.asyncIterator]()
      const first = await reader?.next()
      const read = [new Uint8Array(first?.value ?? [])]
      await bytes.drop(APP)
      const rest = async (): Promise<Uint8Array> => {
        for (;;) {
          const step = await reader?.next()
          if (step === undefined || step.done === true) return Buffer.concat(read)
          read.push(new Uint8Array(step.value))
        }
      }
      for (const result of await Promise.allSettled([rest(), readAll(late)])) {
        if (result.status === 'fulfilled') assertBytes(result.value, much)
        else assert.equal((result.reason as { code?: unknown }).code, 'bytes_gone')
      }
    },
  },
]
