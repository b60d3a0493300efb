import { getEventListeners } from 'node:events'
import t from 'tap'
import { untilAborted } from '../../lib/internal/until-aborted.ts'

const REASON = new Error('given up')

async function* three(): AsyncGenerator<number> {
  yield* [1, 2, 3]
}

/** A source that never gives anything, and counts how often it was ended. */
function stalling() {
  const source = {
    ended: 0,
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise<IteratorResult<number>>(() => undefined),
      async return() {
        source.ended += 1
        return { done: true as const, value: undefined }
      },
    }),
  }
  return source
}

await t.test('all is read while nothing aborts, and nothing is left on the signal', async (t) => {
  const { signal } = new AbortController()
  const read: number[] = []
  for await (const one of untilAborted(three(), signal)) {
    t.equal(getEventListeners(signal, 'abort').length, 0, 'nor between two')
    read.push(one)
  }
  t.same(read, [1, 2, 3])
})

await t.test('a source that stalls is given up with the reason, and ended', async (t) => {
  const aborting = new AbortController()
  const source = stalling()
  const next = untilAborted(source, aborting.signal).next()
  aborting.abort(REASON)
  await t.rejects(next, REASON)
  t.equal(source.ended, 1)
  t.equal(getEventListeners(aborting.signal, 'abort').length, 0)
})

await t.test('what comes after the abort is not handed out', async (t) => {
  const aborting = new AbortController()
  const reading = untilAborted(three(), aborting.signal)
  t.same(await reading.next(), { done: false, value: 1 })
  aborting.abort(REASON)
  await t.rejects(reading.next(), REASON)
  t.same(await reading.next(), { done: true, value: undefined })
})
