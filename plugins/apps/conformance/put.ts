import assert from 'node:assert/strict'
import {
  APP,
  type AppBytesCase,
  assertBytes,
  assertNothing,
  bytesOf,
  inChunks,
  listOf,
  manyBytes,
  readAll,
  sha256Of,
} from './samples.ts'

const HELLO = bytesOf('<h1>Hello</h1>')
const MEBIBYTE = 1024 * 1024

export const putCases: readonly AppBytesCase[] = [
  {
    name: 'put: answers digest and size, and the bytes come back',
    async run({ open }) {
      const bytes = await open()
      const kept = await bytes.put(APP, HELLO)
      assert.deepEqual(kept, { sha256: sha256Of(HELLO), size: HELLO.length })
      assertBytes(await bytes.get(APP, kept.sha256), HELLO)
      assertBytes(await readAll(await bytes.open(APP, kept.sha256)), HELLO)
    },
  },
  {
    name: 'put: no bytes at all are kept like any, from a buffer, a stream, and empty chunks',
    async run({ open }) {
      const bytes = await open()
      const none = new Uint8Array(0)
      const sources = [none, inChunks(none, [1]), asStream([none, none])]
      for (const source of sources) {
        assert.deepEqual(await bytes.put(APP, source), { sha256: sha256Of(none), size: 0 })
      }
      assertBytes(await bytes.get(APP, sha256Of(none)), none)
      assertBytes(await readAll(await bytes.open(APP, sha256Of(none))), none)
      assert.equal((await listOf(bytes)).length, 1)
    },
  },
  {
    name: 'put: a stream of 5 MiB in odd chunks comes back whole, in parts and at once',
    async run({ open }) {
      const bytes = await open()
      const much = manyBytes(5 * MEBIBYTE)
      const sizes = [1, 65_537, 300_000, 7, 262_144]
      const kept = await bytes.put(APP, inChunks(much, sizes))
      assert.deepEqual(kept, { sha256: sha256Of(much), size: much.length })
      assertBytes(await bytes.get(APP, kept.sha256), much)
      assertBytes(await readAll(await bytes.open(APP, kept.sha256)), much)
      assert.deepEqual(await bytes.put(APP, much), kept, 'the same from a buffer')
      assert.equal((await listOf(bytes)).length, 1)
    },
  },
  {
    name: 'put: sizes about powers of two come back whole',
    async run({ open }) {
      const bytes = await open()
      const much = manyBytes(2 * 262_144 + 1)
      for (const size of [65_535, 65_536, 262_143, 262_144, 262_145, 524_288, 524_289]) {
        const part = much.subarray(0, size)
        const { sha256 } = await bytes.put(APP, part)
        assertBytes(await bytes.get(APP, sha256), part)
        assertBytes(await readAll(await bytes.open(APP, sha256)), part)
      }
    },
  },
  {
    name: 'put: what is done to the buffer afterwards, or to what was read, changes nothing',
    async run({ open }) {
      const bytes = await open()
      const buffer = Buffer.from(HELLO)
      const { sha256 } = await bytes.put(APP, buffer)
      buffer.fill(0)
      const read = await bytes.get(APP, sha256)
      assertBytes(read, HELLO)
      read?.fill(0)
      for await (const chunk of (await bytes.open(APP, sha256)) ?? []) chunk.fill(0)
      assertBytes(await bytes.get(APP, sha256), HELLO)
    },
  },
  {
    name: 'put: the same bytes again are kept once, and renewed',
    async run({ open, clock, pass }) {
      const bytes = await open()
      const earliest = clock.now()
      const kept = await bytes.put(APP, HELLO)
      const [first] = await listOf(bytes)
      await pass(10)
      const later = clock.now()
      assert.deepEqual(await bytes.put(APP, HELLO), kept)
      const [second, ...more] = await listOf(bytes)
      assert.ok(first !== undefined && first.kept_at >= earliest && first.kept_at < later)
      assert.ok(second !== undefined && second.kept_at >= later)
      await pass(10)
      assert.deepEqual(await bytes.put(APP, inChunks(HELLO, [3])), kept)
      const [third] = await listOf(bytes)
      assert.ok(third !== undefined && third.kept_at >= second.kept_at + 10)
      assert.deepEqual(more, [])
    },
  },
  {
    name: 'put: the same bytes at once, from two openings, are kept once and all succeed',
    async run({ open }) {
      const [a, b] = [await open(), await open()]
      const much = manyBytes(300_000)
      const puts = Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? a : b).put(APP, index % 3 === 0 ? much : inChunks(much, [100_000])),
      )
      const kept = { sha256: sha256Of(much), size: much.length }
      assert.deepEqual(await Promise.all(puts), Array(10).fill(kept))
      const listed = (await listOf(a)).map(({ sha256, size }) => ({ sha256, size }))
      assert.deepEqual(listed, [kept])
      assertBytes(await b.get(APP, kept.sha256), much)
      assert.equal(await a.remove(APP, [kept.sha256], Number.MAX_SAFE_INTEGER), 1)
      assertBytesGone(await b.get(APP, kept.sha256))
      await assertNothing(a)
    },
  },
  {
    name: 'put: different bytes at once do not mix',
    async run({ open }) {
      const bytes = await open()
      const parts = Array.from({ length: 8 }, (_, index) => manyBytes(50_000 + index))
      const kept = await Promise.all(parts.map((part) => bytes.put(APP, inChunks(part, [9_000]))))
      for (const [index, { sha256 }] of kept.entries()) {
        assertBytes(await bytes.get(APP, sha256), parts[index] ?? HELLO)
      }
      assert.equal((await listOf(bytes)).length, parts.length)
    },
  },
]

function assertBytesGone(bytes: Uint8Array | undefined): void {
  assert.equal(bytes, undefined)
}

async function* asStream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}
