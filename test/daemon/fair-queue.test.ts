import t from 'tap'
import type { FairQueue, Turn } from '../../daemon/queues/fair-queue.ts'
import { createFairQueue } from '../../daemon/queues/fair-queue.ts'

const REFUSED = { code: 'rate_limited', details: { retry_after: 2 } }

/** Work of a queue that ends when told, and whose it was in the order in which it began. */
function createWork(queue: FairQueue) {
  const begun: string[] = []
  const ends: (() => void)[] = []
  return {
    begun,
    add(holder: string, more: Partial<Turn> = {}): Promise<void> {
      return queue({ holder, ...more }, async () => {
        begun.push(holder)
        await new Promise<void>((resolve) => ends.push(resolve))
      })
    },
    /** Ends the work that began first. */
    async endOne() {
      await settle()
      ends.shift()?.()
      await settle()
    },
  }
}

function settle(): Promise<unknown> {
  return new Promise(setImmediate)
}

/** Which of them were dropped, once the others have run. */
async function droppedOf(
  { endOne }: Pick<ReturnType<typeof createWork>, 'endOne'>,
  added: Readonly<Record<string, Promise<void>>>,
): Promise<readonly string[]> {
  const dropped: string[] = []
  const all = Object.entries(added).map(([name, work]) => work.catch(() => dropped.push(name)))
  for (const _ of all) await endOne()
  await Promise.all(all)
  return dropped
}

await t.test('two at once, and holders in turn', async (t) => {
  const { begun, add, endOne } = createWork(createFairQueue({ atOnce: 2, waiting: 20 }))
  const all = ['a', 'a', 'a', 'a', 'b', 'b', 'c'].map((holder) => add(holder))
  await settle()
  t.same(begun, ['a', 'a'])
  for (let ended = 0; ended < 5; ended += 1) await endOne()
  t.same(begun.slice(2), ['b', 'a', 'c', 'b', 'a'])
  await endOne()
  await endOne()
  await Promise.all(all)
  const queue = createFairQueue({ atOnce: 1, waiting: 0 })
  await t.rejects(
    queue({ holder: 'a' }, () => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  )
  t.equal(await queue({ holder: 'a' }, () => Promise.resolve('free again')), 'free again')
})

await t.test(
  'a holder that is alone uses every place; who comes gets those that end',
  async (t) => {
    const { begun, add, endOne } = createWork(createFairQueue({ atOnce: 4, waiting: 20 }))
    const all = Array.from({ length: 12 }, () => add('a'))
    await settle()
    t.same(begun, ['a', 'a', 'a', 'a'])
    all.push(...Array.from({ length: 4 }, () => add('b')))
    for (let ended = 0; ended < 4; ended += 1) await endOne()
    t.same(begun.slice(4), ['b', 'b', 'a', 'a'], 'until each runs as much')
    for (let ended = 4; ended < 16; ended += 1) await endOne()
    await Promise.all(all)
  },
)

await t.test('when too much waits, the holder with most loses its last', async (t) => {
  const { begun, add, endOne } = createWork(createFairQueue({ atOnce: 1, waiting: 3 }))
  const [first, second, , fourth] = ['a', 'a', 'a', 'a'].map((holder) => add(holder))
  await t.rejects(add('a'), REFUSED, 'its own newcomer')
  const dropped = t.rejects(fourth as Promise<void>, REFUSED)
  const other = add('b')
  await dropped
  await t.rejects(add('b'), REFUSED, 'it would have as many')
  for (let ended = 0; ended < 4; ended += 1) await endOne()
  await Promise.all([first, second, other])
  t.same(begun, ['a', 'a', 'b', 'a'])
})

await t.test('of equal holders, the widest group with most loses one', async (t) => {
  const work = createWork(createFairQueue({ atOnce: 1, waiting: 4 }))
  const of = (...within: string[]): Partial<Turn> => ({ within })
  const running = work.add('running')
  const dropped = await droppedOf(work, {
    running,
    a1: work.add('a1', of('A', 'A1')),
    a2: work.add('a2', of('A', 'A1')),
    a3: work.add('a3', of('A', 'A2')),
    b1: work.add('b1', of('B', 'B1')),
    a4: work.add('a4', of('A', 'A3')),
    b2: work.add('b2', of('B', 'B2')),
    b3: work.add('b3', of('B', 'B3')),
    c1: work.add('c1', of('C', 'C1')),
  })
  t.same(dropped, ['a1', 'a2', 'b3', 'a3'])
})

await t.test('the first work of a widest group finds a place', async (t) => {
  const work = createWork(createFairQueue({ atOnce: 1, waiting: 3 }))
  const added = Object.fromEntries(
    ['running', 'a', 'b', 'c', 'd', 'e'].map((name) => [
      name,
      work.add(name, { within: [name.toUpperCase()] }),
    ]),
  )
  const again = t.rejects(work.add('e', { within: ['E'] }), REFUSED, 'its second does not')
  t.same(await droppedOf(work, added), ['a', 'b'])
  await again
})

await t.test('groups take turns, then the holders of each', async (t) => {
  const { begun, add, endOne } = createWork(createFairQueue({ atOnce: 1, waiting: 20 }))
  const all = ['a1', 'a2', 'a3', 'a3'].map((holder) => add(holder, { within: ['A'] }))
  all.push(add('b1', { within: ['B'] }), add('b2', { within: ['B'] }))
  for (const _ of all) await endOne()
  await Promise.all(all)
  t.same(begun, ['a1', 'a2', 'b1', 'a3', 'b2', 'a3'])
})

await t.test('work on one subject runs one at a time', async (t) => {
  const { begun, add, endOne } = createWork(createFairQueue({ atOnce: 2, waiting: 20 }))
  const all = ['a', 'b', 'c'].map((holder) => add(holder, { subject: 'an app' }))
  all.push(add('d', { subject: 'another app' }))
  await settle()
  t.same(begun, ['a', 'd'])
  await endOne()
  t.same(begun, ['a', 'd', 'b'])
  await endOne()
  t.same(begun, ['a', 'd', 'b'])
  await endOne()
  await endOne()
  await Promise.all(all)
  t.same(begun, ['a', 'd', 'b', 'c'])
})

await t.test('work that is kept is neither counted nor dropped', async (t) => {
  const work = createWork(createFairQueue({ atOnce: 1, waiting: 1 }))
  const running = work.add('a')
  const kept = Array.from({ length: 3 }, () => work.add('a', { kept: true }))
  const waits = work.add('a')
  await t.rejects(work.add('a'), REFUSED)
  for (let ended = 0; ended < 5; ended += 1) await work.endOne()
  await Promise.all([running, ...kept, waits])
  t.equal(work.begun.length, 5)
})

await t.test('what is aborted while it waits gives its place back', async (t) => {
  const { begun, add, endOne } = createWork(createFairQueue({ atOnce: 1, waiting: 1 }))
  const running = add('a')
  const leaving = new AbortController()
  const left = t.rejects(add('b', { signal: leaving.signal }), { message: 'left' })
  leaving.abort(new Error('left'))
  const next = add('b')
  await left
  await t.rejects(add('b', { signal: leaving.signal }), { message: 'left' })
  await endOne()
  await endOne()
  await Promise.all([running, next])
  t.same(begun, ['a', 'b'])
})
