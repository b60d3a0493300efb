import assert from 'node:assert/strict'
import {
  APP,
  type AppBytesCase,
  assertBytes,
  bytesOf,
  collect,
  listOf,
  manyBytes,
  OTHER,
} from './samples.ts'

export const reopenCases: readonly AppBytesCase[] = [
  {
    name: 'opened again: all is as it was kept',
    requires: 'durable',
    async run({ open, pass }) {
      const first = await open()
      const much = manyBytes(600_000)
      const { sha256 } = await first.put(APP, much)
      await pass(10)
      await first.put(APP, bytesOf('file'))
      await first.put(OTHER, bytesOf('dropped'))
      await first.drop(OTHER)
      const listed = await listOf(first)
      await first.close()
      await pass(10)
      const second = await open()
      assertBytes(await second.get(APP, sha256), much)
      assert.deepEqual(await listOf(second), listed)
      assert.deepEqual(await collect(second.apps()), [APP])
    },
  },
  {
    name: 'opened twice: what one puts the other finds at once, with the same instant',
    requires: 'durable',
    async run({ open }) {
      const [a, b] = [await open(), await open()]
      const { sha256 } = await a.put(APP, bytesOf('file'))
      assertBytes(await b.get(APP, sha256), bytesOf('file'))
      assert.deepEqual(await listOf(b), await listOf(a))
      await b.drop(APP)
      assert.equal(await a.get(APP, sha256), undefined)
    },
  },
]
