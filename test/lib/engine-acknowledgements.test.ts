import t from 'tap'
import { createAcknowledgements } from '../../lib/engine/acknowledgements.ts'
import { createClock, turn } from '../support/clock.ts'

await t.test('whoever changes something', async (t) => {
  function waiting(): {
    readonly acknowledgements: ReturnType<typeof createAcknowledgements>
    readonly clock: ReturnType<typeof createClock>
    /** When the store was asked, and about whom. */
    readonly asked: (readonly [number, readonly string[]])[]
    /** What the store has; it fails while it is undefined. */
    stored: ReadonlyMap<string, number> | undefined
    /** Waits, and answers who was silent once that is known. */
    wait(seq: number, holders: Readonly<Record<string, number>>): { silent?: readonly string[] }
  } {
    const clock = createClock(0)
    const acknowledgements = createAcknowledgements(
      async (ids) => {
        world.asked.push([clock.now(), ids])
        if (world.stored === undefined) throw new Error('no connection')
        return world.stored
      },
      (delay, run) => clock.after(delay, run),
    )
    const world: ReturnType<typeof waiting> = {
      acknowledgements,
      clock,
      asked: [],
      stored: new Map(),
      wait(seq, holders) {
        const outcome: { silent?: readonly string[] } = {}
        const list = Object.entries(holders).map(([id, left]) => ({ id, left }))
        void acknowledgements.wait(seq, list).then((silent) => {
          outcome.silent = silent
        })
        return outcome
      },
    }
    return world
  }

  await t.test('waits for nobody when nobody holds a lease', async (t) => {
    const { wait, clock } = waiting()
    const outcome = wait(5, {})
    await turn()
    t.strictSame(outcome.silent, [])
    t.equal(clock.timers, 0)
  })
  await t.test('waits until each holder knows this change or a later one', async (t) => {
    const { acknowledgements, wait, clock } = waiting()
    const outcome = wait(5, { a: 900, b: 900 })
    acknowledgements.record('a', 5)
    acknowledgements.record('b', 4)
    await turn()
    t.equal(outcome.silent, undefined)
    acknowledgements.record('b', 6)
    await turn()
    t.strictSame(outcome.silent, [])
    t.equal(clock.timers, 0)
  })
  await t.test('goes by what was acknowledged before, and by the highest', async (t) => {
    const { acknowledgements, wait } = waiting()
    acknowledgements.record('a', 6)
    acknowledgements.record('a', 3)
    const outcome = wait(5, { a: 900 })
    await turn()
    t.strictSame(outcome.silent, [])
  })
  await t.test(
    'waits no longer than the last lease and a margin, and names the silent',
    async (t) => {
      const { acknowledgements, wait, clock } = waiting()
      const outcome = wait(5, { a: 300, b: 900, c: 700 })
      acknowledgements.record('a', 5)
      await clock.advance(919)
      t.equal(outcome.silent, undefined)
      await clock.advance(1)
      t.strictSame(outcome.silent, ['b', 'c'])
      t.equal(clock.timers, 0)
    },
  )
  await t.test('asks the store about the silent, at first often', async (t) => {
    const { acknowledgements, asked, wait, clock } = waiting()
    wait(5, { a: 900, b: 900 })
    await clock.advance(30)
    acknowledgements.record('a', 5)
    await clock.advance(970)
    t.strictSame(asked, [
      [25, ['a', 'b']],
      [75, ['b']],
      [175, ['b']],
      [375, ['b']],
      [775, ['b']],
    ])
  })
  await t.test('reads from the store what no notification reported', async (t) => {
    const world = waiting()
    world.stored = undefined
    const outcome = world.wait(5, { a: 900 })
    await world.clock.advance(60)
    t.equal(outcome.silent, undefined)
    world.stored = new Map([['a', 5]])
    await world.clock.advance(15)
    t.strictSame(outcome.silent, [])
    t.equal(world.clock.timers, 0)
  })
  await t.test('takes nobody at an earlier word', async (t) => {
    const { acknowledgements, wait, clock } = waiting()
    acknowledgements.record('a', 5)
    wait(5, { a: 900 })
    const again = wait(5, { a: 900 })
    await clock.advance(919)
    t.equal(again.silent, undefined)
    await clock.advance(1)
    t.strictSame(again.silent, ['a'])
  })
  await t.test('hears of later words what it no longer waits for', async (t) => {
    const { acknowledgements, wait, clock } = waiting()
    wait(5, { a: 100 })
    await clock.advance(120)
    acknowledgements.record('a', 5)
    const next = wait(5, { a: 100 })
    await turn()
    t.strictSame(next.silent, [])
  })
  await t.test('waits beside others, each for its own change', async (t) => {
    const { acknowledgements, wait } = waiting()
    const first = wait(5, { a: 900, b: 900 })
    const second = wait(6, { a: 900 })
    acknowledgements.record('a', 5)
    acknowledgements.record('b', 5)
    await turn()
    t.strictSame([first.silent, second.silent], [[], undefined])
    acknowledgements.record('a', 6)
    await turn()
    t.strictSame(second.silent, [])
  })
})
