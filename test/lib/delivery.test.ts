import fc from 'fast-check'
import t from 'tap'
import type { Verdict } from '../../lib/delivery/outcome.ts'
import { MAX_RETRY_AFTER } from '../../lib/delivery/outcome.ts'
import { DEFAULT_SCHEDULE, nextDelay, parseSchedule } from '../../lib/delivery/schedule.ts'
import type { AttemptTrigger, DeliveryState, DeliveryStatus } from '../../lib/delivery/state.ts'
import { FINAL_STATUSES, isFinal } from '../../lib/delivery/state.ts'
import type { DeliveryFact } from '../../lib/delivery/transition.ts'
import { MOVES, transition } from '../../lib/delivery/transition.ts'
import { DAY, SECOND } from '../../lib/time.ts'
import { NOW, VERDICTS } from '../support/verdicts.ts'

const STATUSES: readonly DeliveryStatus[] = ['pending', 'delivering', ...FINAL_STATUSES]

const anySchedule = fc.array(fc.integer({ min: 0, max: 604_800 }), { minLength: 1, maxLength: 20 })
const anyChance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const anyWish = fc.option(fc.integer({ min: 0, max: MAX_RETRY_AFTER }))
const failed = { type: 'attempted', verdict: 'failed', retryAfter: null, chance: 0 } as const
const ONE_OF_EACH: readonly DeliveryFact[] = [
  failed,
  { type: 'claimed', lease_until: NOW + 1 },
  { type: 'lease_ended' },
  { type: 'retry_requested' },
  { type: 'webhook_disabled' },
  { type: 'webhook_deleted' },
]
const anyFact: fc.Arbitrary<DeliveryFact> = fc.oneof(
  fc.constantFrom(...ONE_OF_EACH),
  fc.record({
    type: fc.constant('attempted' as const),
    verdict: fc.constantFrom(...VERDICTS),
    retryAfter: anyWish,
    chance: anyChance,
  }),
)

const stateOf = (status: DeliveryStatus, trigger: AttemptTrigger = 'event'): DeliveryState => ({
  status,
  attempts: 3,
  automatic: 2,
  trigger,
  next_at: isFinal(status) ? null : NOW,
  end_reason: null,
})
const newborn = (trigger: AttemptTrigger): DeliveryState => ({
  ...stateOf('pending', trigger),
  attempts: 0,
  automatic: 0,
})

await t.test('transitions', async (t) => {
  await t.test('keep their laws through any facts in any order', async () => {
    const anyStart = fc.constantFrom<AttemptTrigger>('event', 'test', 'replay').map(newborn)
    fc.assert(
      fc.property(
        anyStart,
        fc.array(anyFact, { maxLength: 60 }),
        anySchedule,
        (start, facts, s) =>
          facts.reduce<{ state: DeliveryState; lawful: boolean }>(
            ({ state, lawful }, fact, at) => {
              const after = transition(state, fact, NOW + at, s)
              return { state: after, lawful: lawful && isLawful(state, fact, after, s.length) }
            },
            { state: start, lawful: true },
          ).lawful,
      ),
      { numRuns: 2000 },
    )
  })
  await t.test('lead on from what the table names, and change nothing elsewhere', async (t) => {
    const due = { status: 'pending', next_at: NOW + 9 } as const
    const ended = { next_at: null } as const
    const rows: readonly (readonly [DeliveryFact, readonly DeliveryStatus[], object])[] = [
      [
        { type: 'claimed', lease_until: NOW + 60 },
        ['pending', 'delivering'],
        { status: 'delivering', next_at: NOW + 60 },
      ],
      [{ type: 'lease_ended' }, ['delivering'], due],
      [{ type: 'retry_requested' }, FINAL_STATUSES, { ...due, trigger: 'manual' }],
      [
        { type: 'retry_requested', trigger: 'replay' },
        FINAL_STATUSES,
        { ...due, trigger: 'replay' },
      ],
      [
        { type: 'webhook_disabled' },
        ['pending'],
        { ...ended, status: 'exhausted', end_reason: 'webhook_disabled' },
      ],
      [{ type: 'webhook_deleted' }, ['pending', 'delivering'], { ...ended, status: 'canceled' }],
    ]
    for (const [fact, from, changes] of rows) {
      t.strictSame(MOVES[fact.type], from, `the table lists where ${fact.type} leads`)
      for (const status of STATUSES) {
        const before = stateOf(status, 'retry')
        const expected = from.includes(status) ? { ...before, ...changes } : before
        t.strictSame(transition(before, fact, NOW + 9, [1]), expected, `${fact.type} of ${status}`)
      }
    }
    t.strictSame(MOVES.attempted, ['delivering'])
    for (const status of STATUSES) {
      const before = stateOf(status)
      t.equal(transition(before, failed, NOW, [1]) === before, status !== 'delivering', status)
    }
  })
  await t.test('end a manual or test attempt for good, whatever came of it', async (t) => {
    for (const trigger of ['manual', 'test'] as const) {
      for (const verdict of VERDICTS) {
        const before = stateOf('delivering', trigger)
        const after = transition(before, { ...failed, verdict }, NOW, DEFAULT_SCHEDULE)
        t.ok(isFinal(after.status), `${trigger} ${verdict}`)
        t.match(after, { attempts: 4, automatic: 2, next_at: null })
      }
    }
  })
  await t.test('schedule another attempt after a failure alone', async (t) => {
    const after = (verdict: Verdict): DeliveryState =>
      transition(stateOf('delivering'), { ...failed, verdict }, NOW, DEFAULT_SCHEDULE)
    t.match(after('failed'), { status: 'pending', trigger: 'retry', next_at: NOW + 1800 * SECOND })
    t.match(after('succeeded'), { status: 'succeeded', next_at: null })
    t.match(after('gone'), { status: 'exhausted', next_at: null })
    t.match(after('blocked'), { status: 'blocked', next_at: null })
  })
  await t.test('skip what was never tried when its webhook is disabled', async (t) => {
    const fact = { type: 'webhook_disabled' } as const
    t.match(transition(newborn('event'), fact, NOW, [1]), { status: 'skipped', end_reason: null })
    const ended = transition(stateOf('pending', 'retry'), fact, NOW, [1])
    t.match(ended, { status: 'exhausted', end_reason: 'webhook_disabled' })
    const asked = transition(ended, { type: 'retry_requested' }, NOW, [1])
    t.match(asked, { status: 'pending', trigger: 'manual', end_reason: null })
  })
  await t.test('make one automatic attempt more than the schedule has steps', async () => {
    fc.assert(
      fc.property(anySchedule, (schedule) => {
        let state = newborn('event')
        for (let at = 0; at <= schedule.length && !isFinal(state.status); at += 1) {
          state = transition(state, { type: 'claimed', lease_until: at }, at, schedule)
          state = transition(state, failed, at, schedule)
        }
        return state.status === 'exhausted' && state.automatic === schedule.length + 1
      }),
    )
  })
})

function isLawful(
  before: DeliveryState,
  fact: DeliveryFact,
  after: DeliveryState,
  steps: number,
): boolean {
  const attempted = fact.type === 'attempted' && before.status === 'delivering'
  return (
    (after.next_at === null) === isFinal(after.status) &&
    after.attempts === before.attempts + (attempted ? 1 : 0) &&
    after.automatic >= before.automatic &&
    after.automatic <= Math.min(after.attempts, steps + 1) &&
    (!isFinal(before.status) || fact.type === 'retry_requested' || after === before)
  )
}

await t.test('the retry schedule', async (t) => {
  await t.test('is delayed by jitter, by a tenth at most, and never hastened', async () => {
    fc.assert(
      fc.property(anySchedule, anyWish, anyChance, fc.nat(), (schedule, wish, chance, pick) => {
        const at = pick % schedule.length
        const base = Math.max(schedule[at] ?? 0, wish ?? 0)
        const delay = nextDelay(schedule, at + 1, wish, chance) ?? -1
        return Number.isInteger(delay) && delay >= base && delay <= base * 1.1
      }),
    )
  })
  await t.test('takes the wish of the receiver as a lower bound', async (t) => {
    t.equal(nextDelay([1000, 9000], 1, 5000, 0), 5000)
    t.equal(nextDelay([1000, 9000], 2, 5000, 0), 9000)
  })
  await t.test('ends when it is used up, whatever the receiver wishes', async (t) => {
    t.equal(nextDelay([1000], 2, 5000, 0.5), null)
    t.equal(nextDelay(DEFAULT_SCHEDULE, 9, null, 0), DAY)
    t.equal(nextDelay(DEFAULT_SCHEDULE, 10, null, 0), null)
  })
  await t.test('reads whole seconds between commas', async (t) => {
    t.same(parseSchedule('1,2,4'), [1000, 2000, 4000])
    t.same(parseSchedule(' 0 , 604800 '), [0, 604_800_000])
    t.equal(parseSchedule(Array(20).fill('1').join(',')).length, 20)
  })
  await t.test('refuses what is none', async (t) => {
    const many = Array(21).fill('1').join(',')
    for (const text of ['', 'a', '-1', '1.5', '1,', ',1', '1 2', '1e3', '٣', '604801', many]) {
      t.throws(() => parseSchedule(text), { code: 'invalid_schedule' }, JSON.stringify(text))
    }
  })
})

await t.test('the error of a malformed schedule names the element', async (t) => {
  t.throws(() => parseSchedule('1,soon,2'), {
    code: 'invalid_schedule',
    details: { element: 'soon' },
  })
  t.throws(() => parseSchedule(Array(21).fill('1').join(',')), {
    code: 'invalid_schedule',
    details: { steps: 21 },
  })
})
