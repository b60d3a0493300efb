import t from 'tap'
import { createPollQueue, poll } from '../../daemon/families/polling.ts'
import { SECOND } from '../../lib/time.ts'
import { createClock } from '../support/clock.ts'
import { signal } from '../support/signal.ts'

/** A follower, and how often it read. */
function createFollower() {
  const clock = createClock(0)
  const polls = createPollQueue()
  const leaving = new AbortController()
  const seen = { reads: 0, found: 0 }
  async function follow(read: (number: number) => { readonly more: boolean } | undefined) {
    const follower = { holder: 'a', left: leaving.signal }
    const found = poll({ clock, queues: { polls } }, SECOND, follower, async () =>
      read(++seen.reads),
    )
    for await (const _ of found) seen.found += 1
  }
  return { clock, polls, seen, follow, leave: () => leaving.abort(new Error('left')) }
}

void t.test('reads on at once while there is more, and then from time to time', async (t) => {
  const { clock, seen, follow } = createFollower()
  const ended = follow((read) => (read === 6 ? undefined : { more: read < 3 }))
  await clock.advance(SECOND / 2)
  t.same(seen, { reads: 3, found: 3 })
  await clock.advance(SECOND)
  t.same(seen, { reads: 4, found: 4 })
  await clock.advance(2 * SECOND)
  await ended
  t.same(seen, { reads: 6, found: 5 }, 'it ends once there is nothing to read')
})

void t.test('other accounts are served between two reads, however much there is', async (t) => {
  const { polls, seen, follow, leave } = createFollower()
  const ended = follow((read) => (read === 1000 ? undefined : { more: true }))
  for (let turns = 1; turns <= 5; turns += 1) {
    await polls({ holder: 'b' }, async () => undefined)
    t.ok(seen.reads <= 2 * turns, `${seen.reads} reads in ${turns} turns`)
  }
  leave()
  await ended.catch(() => undefined)
  t.ok(seen.reads < 1000)
})

void t.test('nothing is read for a client that has left', async (t) => {
  await t.test('while it reads what there is', async (t) => {
    const { seen, follow, leave } = createFollower()
    await follow((read) => {
      if (read === 3) leave()
      return { more: read < 1000 }
    })
    t.same(seen, { reads: 3, found: 3 })
  })
  await t.test('while it waits for its turn', async (t) => {
    const { polls, seen, follow, leave } = createFollower()
    const { promise: opened, resolve: open } = signal()
    const turns = Array.from({ length: 4 }, () => polls({ holder: 'a' }, () => opened))
    const ended = follow(() => ({ more: true }))
    leave()
    await t.rejects(ended, { message: 'left' })
    open()
    await Promise.all(turns)
    t.equal(seen.reads, 0)
  })
  await t.test('while it waits for the next read', async (t) => {
    const { clock, seen, follow, leave } = createFollower()
    const ended = follow(() => ({ more: false }))
    await clock.advance(SECOND / 2)
    leave()
    await ended
    t.equal(seen.reads, 1)
    t.equal(clock.timers, 0)
  })
})
