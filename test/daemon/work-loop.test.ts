import t from 'tap'
import { createLog } from '../../daemon/telemetry/log.ts'
import type { WorkLoopOptions } from '../../daemon/jobs/work-loop.ts'
import { startWorkLoop } from '../../daemon/jobs/work-loop.ts'
import { until } from '../support/daemon.ts'

/** Pieces that wait, and a loop over them whose clock rings when the test says so. */
function loopOver(options: Partial<WorkLoopOptions> = {}) {
  const waiting: (() => Promise<void>)[] = []
  const rings: (() => void)[] = []
  const seen = { looks: 0, atOnce: 0, most: 0, done: 0 }
  const loop = startWorkLoop({
    name: 'test',
    async isClaimable() {
      seen.looks++
      return waiting.length > 0
    },
    async claimNext() {
      const work = waiting.shift()
      if (work === undefined) return false
      seen.atOnce++
      seen.most = Math.max(seen.most, seen.atOnce)
      await work().finally(() => seen.atOnce--)
      seen.done++
      return true
    },
    most: 2,
    every: 1000,
    clock: {
      after(_delay, run) {
        rings.push(run)
        return () => void rings.splice(rings.indexOf(run), 1)
      },
    },
    log: createLog('silent'),
    ...options,
  })
  return { waiting, seen, loop, ring: () => rings.splice(0).forEach((run) => run()), rings }
}

const soon = () => new Promise<void>((resolve) => setImmediate(resolve))

void t.test('it looks at once, when it is woken, and every so often, and else not', async (t) => {
  const { waiting, seen, loop, ring, rings } = loopOver()
  await until('it has looked', () => rings.length === 1)
  t.equal(seen.looks, 1)
  waiting.push(soon)
  loop.notify()
  await until('it has looked again', () => seen.done === 1 && rings.length === 1)
  waiting.push(soon)
  await soon()
  t.equal(seen.done, 1)
  ring()
  await until('it has looked by itself', () => seen.done === 2)
  await loop.stop()
  t.same(rings, [])
  waiting.push(soon)
  loop.notify()
  await soon()
  t.equal(seen.done, 2, 'nothing begins after the stop')
})

void t.test('as many as may run at once, and one wake is enough for all that waits', async (t) => {
  const { waiting, seen, loop } = loopOver()
  for (let count = 0; count < 20; count++) waiting.push(soon)
  loop.notify()
  await until('all is done', () => seen.done === 20)
  t.equal(seen.most, 2)
  await loop.stop()
})

void t.test(
  'what comes while the last one finds nothing is not left for the next look',
  async (t) => {
    let answer: (took: boolean) => void = () => undefined
    let taken = 0
    const { loop } = loopOver({
      isClaimable: async () => true,
      claimNext: () => {
        taken++
        return new Promise<boolean>((resolve) => (answer = resolve))
      },
      most: 1,
    })
    await until('it is asked', () => taken === 1)
    loop.notify()
    await soon()
    answer(false)
    await until('it asks again', () => taken === 2)
    const stopped = loop.stop()
    answer(false)
    await stopped
    t.equal(taken, 2)
  },
)

void t.test('an error ends neither the others nor the loop', async (t) => {
  const { waiting, seen, loop, ring, rings } = loopOver()
  waiting.push(() => Promise.reject(new Error('no')), soon, soon)
  loop.notify()
  await until('the others are done', () => seen.done === 2)
  let fails = true
  const other = loopOver({
    isClaimable: async () => {
      if (fails) throw new Error('no database')
      return false
    },
  })
  await until('it goes on', () => other.rings.length === 1)
  fails = false
  waiting.push(soon)
  await until('it waits', () => rings.length === 1)
  ring()
  await until('it is taken up', () => seen.done === 3)
  await Promise.all([loop.stop(), other.loop.stop()])
  t.equal(seen.atOnce, 0)
})

void t.test('stopping aborts what is under way and waits for its end', async (t) => {
  let isEnded = false
  const { loop, seen } = loopOver({
    isClaimable: async () => true,
    claimNext: (stopping) =>
      new Promise((resolve) => {
        seen.atOnce++
        stopping.addEventListener('abort', () => {
          setImmediate(() => {
            isEnded = true
            resolve(true)
          })
        })
      }),
  })
  await until('two are under way', () => seen.atOnce === 2)
  await loop.stop()
  t.ok(isEnded)
  t.equal(seen.atOnce, 2, 'and no third began')
})
