import assert from 'node:assert/strict'
import type { RunningPart } from '../../other-process.ts'
import { withOtherProcess } from '../../other-process.ts'
import { HALF, putFiles } from './parts.ts'
import {
  APP,
  type AppBytesCase,
  type AppBytesHarness,
  assertBytes,
  assertNothing,
  listOf,
  sha256Of,
} from './samples.ts'

const PARTS = new URL('./parts.js', import.meta.url).href

/** Runs a part on the harness's place in another process, which is killed at the end. */
function beside<T>(
  harness: AppBytesHarness,
  part: readonly [name: string, input: unknown],
  work: (other: RunningPart) => Promise<T>,
): Promise<T> {
  assert.ok(harness.otherProcess, 'a harness of this capability has otherProcess')
  return withOtherProcess(harness.otherProcess(), [PARTS, ...part], work)
}

export const processCases: readonly AppBytesCase[] = [
  {
    name: 'many processes: what two put at once is kept, each once',
    requires: 'manyProcesses',
    async run(harness) {
      const bytes = await harness.open()
      const digests = await beside(harness, ['put', 'the other'], async (other) => {
        assert.equal(await other.said(), 'open')
        const own = await putFiles(bytes, 'this one')
        return [...own, ...((await other.said()) as readonly string[])]
      })
      const listed = (await listOf(bytes)).map(({ sha256 }) => sha256)
      assert.deepEqual(listed, [...new Set(digests)].sort())
      for (const sha256 of listed) assert.ok(await bytes.get(APP, sha256), sha256)
    },
  },
  {
    name: 'many processes: nothing can be read of a put whose process is killed',
    requires: 'manyProcesses',
    async run(harness) {
      const bytes = await harness.open()
      await beside(harness, ['begin', null], async (other) => {
        assert.equal(await other.said(), 'begun')
      })
      await assertNothing(bytes)
      assert.equal(await bytes.get(APP, sha256Of(HALF)), undefined)
      const { sha256 } = await bytes.put(APP, HALF)
      assertBytes(await bytes.get(APP, sha256), HALF)
    },
  },
]
