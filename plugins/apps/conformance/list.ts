import assert from 'node:assert/strict'
import type { Kept } from '../contract.ts'
import {
  APP,
  type AppBytesCase,
  assertNothing,
  bytesOf,
  collect,
  listOf,
  OTHER,
} from './samples.ts'

const MANY = 30

export const listCases: readonly AppBytesCase[] = [
  {
    name: 'list: all that is kept, each once, in the order of digests',
    async run({ open, clock, pass }) {
      const bytes = await open()
      const kept: Kept[] = []
      for (let index = 0; index < MANY; index += 1) {
        kept.push(await bytes.put(APP, bytesOf(`file ${index}`)))
      }
      await bytes.put(OTHER, bytesOf('of another app'))
      await pass(10)
      const now = clock.now()
      const renewed = await bytes.put(APP, bytesOf('file 7'))
      const listed = await listOf(bytes)
      const ordered = kept.sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
      assert.deepEqual(
        listed.map(({ sha256, size }) => ({ sha256, size })),
        ordered,
      )
      const late = listed.filter(({ kept_at }) => kept_at >= now)
      assert.deepEqual(
        late.map(({ sha256 }) => sha256),
        [renewed.sha256],
      )
    },
  },
  {
    name: 'list: names all that stays while others come, go and are renewed',
    async run({ open, pass }) {
      const [bytes, other] = [await open(), await open()]
      const texts = Array.from({ length: 20 }, (_, index) => `stays ${index}`)
      for (const text of texts) await bytes.put(APP, bytesOf(text))
      const goes = await bytes.put(APP, bytesOf('goes'))
      await pass(10)
      const changes = [
        ...texts.map((text) => other.put(APP, bytesOf(text))),
        ...texts.map((text) => other.put(APP, bytesOf(`${text}, later`))),
        other.remove(APP, [goes.sha256], Number.MAX_SAFE_INTEGER),
      ]
      const lists = await Promise.all([1, 2, 3].map(() => listOf(bytes)))
      const stay = await Promise.all(texts.map((text) => other.put(APP, bytesOf(text))))
      await Promise.all(changes)
      for (const list of lists) {
        const digests = list.map(({ sha256 }) => sha256)
        assert.deepEqual(digests, [...new Set(digests)].sort())
        for (const { sha256 } of stay) assert.ok(digests.includes(sha256), sha256)
      }
    },
  },
  {
    name: 'list: an app of which nothing is kept is empty',
    async run({ open }) {
      await assertNothing(await open())
    },
  },
  {
    name: 'list: one who stops in the middle disturbs nobody',
    async run({ open }) {
      const bytes = await open()
      for (const text of ['a', 'b', 'c']) await bytes.put(APP, bytesOf(text))
      for await (const { size } of bytes.list(APP)) {
        assert.equal(size, 1)
        break
      }
      assert.equal((await listOf(bytes)).length, 3)
    },
  },
  {
    name: 'apps: names those of which something is kept, each once',
    async run({ open }) {
      const bytes = await open()
      assert.deepEqual(await collect(bytes.apps()), [])
      const { sha256 } = await bytes.put(APP, bytesOf('a'))
      await bytes.put(APP, bytesOf('b'))
      await bytes.put(OTHER, bytesOf('a'))
      assert.deepEqual([...(await collect(bytes.apps()))].sort(), [APP, OTHER])
      await bytes.remove(OTHER, [sha256], Number.MAX_SAFE_INTEGER)
      assert.deepEqual(await collect(bytes.apps()), [APP])
      await bytes.drop(APP)
      assert.deepEqual(await collect(bytes.apps()), [])
    },
  },
]
