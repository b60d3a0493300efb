import t from 'tap'
import type { Change } from '../../lib/engine/changes.ts'
import type { Lease, LeaseRenewal } from '../../lib/engine/lease.ts'
import { createLease, LEASE, RENEW_EVERY } from '../../lib/engine/lease.ts'
import { turn } from '../support/clock.ts'

const DAY_START = 1_800_000_000_000
const OF_KEY: Change = { kind: 'key', id: 'key_1' }
const OF_ACCOUNT: Change = { kind: 'account', id: 'acc_1' }

/** A lease over a store that answers when the test says, and clocks that run apart at its will. */
function leased(): {
  readonly lease: Lease
  readonly clock: { day: number; steady: number }
  /** Changes emitted to listeners and acknowledgements, in order. */
  readonly emitted: unknown[]
  readonly questions: {
    readonly from: number
    readonly answer: (round: LeaseRenewal) => void
    readonly fail: (cause: Error) => void
  }[]
  pass(ms: number): void
  isCurrent(): boolean
} {
  const clock = { day: DAY_START, steady: 5000 }
  const emitted: unknown[] = []
  const questions: ReturnType<typeof leased>['questions'] = []
  const lease = createLease(
    {
      renew: ({ known: from }) =>
        new Promise((answer, fail) => {
          questions.push({ from, answer, fail })
        }),
      async acknowledge(seq) {
        emitted.push(seq)
      },
    },
    { now: () => clock.day, steady: () => clock.steady },
  )
  lease.changes.listen((change) => emitted.push(change))
  return {
    lease,
    clock,
    emitted,
    questions,
    pass(ms) {
      clock.day += ms
      clock.steady += ms
    },
    isCurrent: () => lease.changes.isCurrent(),
  }
}

/** One that has just been granted, and knows the changes up to 7. */
async function held(): Promise<ReturnType<typeof leased>> {
  const world = leased()
  const renewed = world.lease.renew()
  world.questions[0]?.answer({ seq: 7, changes: [] })
  await renewed
  world.emitted.length = 0
  return world
}

await t.test('a lease', async (t) => {
  await t.test('lasts two seconds, and is renewed four times in that time', async (t) => {
    t.equal(LEASE, 2000)
    t.equal(RENEW_EVERY, 500)
  })
  await t.test(
    'is not had before the store granted it, and all that was kept is forgotten',
    async (t) => {
      const { lease, questions, emitted, isCurrent } = leased()
      t.equal(isCurrent(), false)
      const renewed = lease.renew()
      t.equal(isCurrent(), false)
      t.equal(questions[0]?.from, 0)
      questions[0]?.answer({ seq: 7, changes: [OF_KEY] })
      await renewed
      t.equal(isCurrent(), true)
      t.strictSame(emitted, ['all', 7])
    },
  )
  await t.test('counts from before the store was asked, less what clocks may drift', async (t) => {
    const { lease, questions, pass, isCurrent } = leased()
    const renewed = lease.renew()
    pass(600)
    questions[0]?.answer({ seq: 0, changes: [] })
    await renewed
    pass(1359)
    t.equal(isCurrent(), true)
    pass(1)
    t.equal(isCurrent(), false)
  })
  await t.test('ends when the calendar outran the steady clock, as after a sleep', async (t) => {
    const { clock, isCurrent } = await held()
    clock.day += 2199
    t.equal(isCurrent(), true)
    clock.day += 1
    t.equal(isCurrent(), false)
  })
  await t.test('is no longer for a calendar that goes back', async (t) => {
    const { clock, pass, isCurrent } = await held()
    clock.day -= 60_000
    pass(1960)
    t.equal(isCurrent(), false)
  })
  await t.test(
    'that is renewed in time emits each change, then acknowledges the last',
    async (t) => {
      const { lease, questions, emitted, pass, isCurrent } = await held()
      pass(1000)
      const renewed = lease.renew()
      t.equal(questions[1]?.from, 7)
      questions[1]?.answer({ seq: 9, changes: [OF_KEY, OF_ACCOUNT] })
      await renewed
      t.strictSame(emitted, [OF_KEY, OF_ACCOUNT, 9])
      pass(1959)
      t.equal(isCurrent(), true, 'it lasts from the second question on')
    },
  )
  await t.test('acknowledges nothing when nothing changed', async (t) => {
    const { lease, questions, emitted } = await held()
    const renewed = lease.renew()
    questions[1]?.answer({ seq: 7, changes: [] })
    await renewed
    t.strictSame(emitted, [])
  })
  await t.test('that had ended before the store was asked forgets all', async (t) => {
    const { lease, questions, emitted, pass, isCurrent } = await held()
    pass(1960)
    const renewed = lease.renew()
    questions[1]?.answer({ seq: 8, changes: [OF_KEY] })
    await renewed
    t.strictSame(emitted, ['all', 8])
    t.equal(isCurrent(), true)
  })
  await t.test('whose answer took as long as it lasts forgets all, and is not had', async (t) => {
    for (const [took, expected] of [
      [1999, OF_KEY],
      [2000, 'all'],
    ] as const) {
      const { lease, questions, emitted, pass, isCurrent } = await held()
      const renewed = lease.renew()
      pass(took)
      questions[1]?.answer({ seq: 8, changes: [OF_KEY] })
      await renewed
      t.strictSame(emitted, [expected, 8])
      t.equal(isCurrent(), false)
    }
  })
  await t.test('is asked for once more when hints come meanwhile, however many', async (t) => {
    const { lease, questions } = await held()
    const hinted = [lease.renew(), lease.renew(), lease.renew()]
    t.equal(questions.length, 2)
    questions[1]?.answer({ seq: 8, changes: [] })
    await turn()
    t.equal(questions.length, 3)
    t.equal(questions[2]?.from, 8)
    questions[2]?.answer({ seq: 8, changes: [] })
    await Promise.all(hinted)
    t.equal(questions.length, 3)
  })
  await t.test(
    'outlives a question that failed, and the next asks from the same change',
    async (t) => {
      const { lease, questions, pass, isCurrent } = await held()
      pass(500)
      const renewed = lease.renew()
      questions[1]?.fail(new Error('no connection'))
      await t.rejects(renewed, { message: 'no connection' })
      pass(1459)
      t.equal(isCurrent(), true)
      pass(1)
      t.equal(isCurrent(), false)
      const again = lease.renew()
      t.equal(questions[2]?.from, 7)
      questions[2]?.answer({ seq: 7, changes: [] })
      await again
      t.equal(isCurrent(), true)
    },
  )
  await t.test('that was given up is not had, nor asked for again', async (t) => {
    const { lease, questions, isCurrent } = await held()
    const hinted = [lease.renew(), lease.renew()]
    lease.end()
    t.equal(isCurrent(), false)
    questions[1]?.answer({ seq: 8, changes: [] })
    await Promise.all(hinted)
    await lease.renew()
    t.equal(questions.length, 2)
    t.equal(isCurrent(), false)
  })
})
