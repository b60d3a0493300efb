import fc from 'fast-check'
import t from 'tap'
import type { WebhookHealth } from '../../lib/delivery/health.ts'
import { afterAttempt, HEALTHY, isCounted, judgeHealth } from '../../lib/delivery/health.ts'
import type { SendResult, Verdict } from '../../lib/delivery/outcome.ts'
import { judgeResult, MAX_RETRY_AFTER, parseRetryAfter } from '../../lib/delivery/outcome.ts'
import { DEFAULT_SCHEDULE, nextDelay, parseSchedule } from '../../lib/delivery/schedule.ts'
import type { AttemptTrigger, DeliveryState, DeliveryStatus } from '../../lib/delivery/state.ts'
import { FINAL_STATUSES, isFinal } from '../../lib/delivery/state.ts'
import type { DeliveryFact } from '../../lib/delivery/transition.ts'
import { MOVES, transition } from '../../lib/delivery/transition.ts'
import { utf8 } from '../../lib/internal/bytes.ts'
import { DAY, HOUR, SECOND } from '../../lib/time.ts'

const STATUSES: readonly DeliveryStatus[] = ['pending', 'delivering', ...FINAL_STATUSES]
const TRIGGERS: readonly AttemptTrigger[] = ['event', 'retry', 'manual', 'test', 'replay']
const VERDICTS: readonly Verdict[] = ['succeeded', 'failed', 'gone', 'blocked']
const NOW = Date.UTC(2026, 0, 1)

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
      [{ type: 'webhook_disabled' }, ['pending'], { ...ended, status: 'skipped' }],
      [{ type: 'webhook_deleted' }, ['pending', 'delivering'], { ...ended, status: 'canceled' }],
    ]
    for (const [fact, from, news] of rows) {
      t.strictSame(MOVES[fact.type], from, `stores are told from where ${fact.type} leads`)
      for (const status of STATUSES) {
        const before = stateOf(status, 'retry')
        const expected = from.includes(status) ? { ...before, ...news } : before
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

await t.test('Retry-After', async (t) => {
  const rows: readonly (readonly [string | undefined, number | null])[] = [
    [undefined, null],
    ['0', 0],
    ['120', 120 * SECOND],
    [' 7 ', 7 * SECOND],
    [new Date(NOW + HOUR).toUTCString(), HOUR],
    [new Date(NOW - HOUR).toUTCString(), 0],
    [new Date(NOW + 3650 * DAY).toUTCString(), MAX_RETRY_AFTER],
    [String(3650 * 86_400), MAX_RETRY_AFTER],
    ['9999999999999', null],
    ['-5', null],
    ['2027-01-01', null],
    ['Thu, 99 Foo 2026 00:00:00 GMT', null],
  ]
  for (const [value, expected] of rows) {
    t.equal(parseRetryAfter(value, NOW), expected, JSON.stringify(value))
  }
  t.equal(MAX_RETRY_AFTER, 24 * HOUR)
})

const answer = (status: number, changes = {}): SendResult => ({
  ok: true,
  status,
  retryAfter: undefined,
  body: new Uint8Array(),
  private: false,
  durationMs: 12,
  ...changes,
})

await t.test('an answer', async (t) => {
  await t.test('is judged by its status', async (t) => {
    const statuses = Array.from({ length: 500 }, (_, at) => at + 100)
    const judged = statuses.map((status) => judgeResult(answer(status), NOW))
    const expected = statuses.map((status) => {
      const verdict = status === 410 ? 'gone' : 'failed'
      const good = status >= 200 && status <= 299
      return [status, ...(good ? ['succeeded', null] : [verdict, 'http_status'])]
    })
    t.same(
      judged.map(({ status_code, verdict, error }) => [status_code, verdict, error]),
      expected,
    )
  })
  await t.test('succeeds though its body is cut within a character', async (t) => {
    const body = utf8('né').subarray(0, 2)
    t.match(judgeResult(answer(204, { body }), NOW), { verdict: 'succeeded', response: 'n\uFFFD' })
  })
  await t.test('is kept as text without NUL, and not at all when it is private', async (t) => {
    const body = Uint8Array.of(0x61, 0, 0xff)
    t.equal(judgeResult(answer(500, { body }), NOW).response, 'a\uFFFD\uFFFD')
    t.equal(judgeResult(answer(500, { body, private: true }), NOW).response, null)
    t.equal(judgeResult(answer(500), NOW).response, null)
  })
  await t.test('may wish for a later attempt, unless it is a success', async (t) => {
    t.equal(judgeResult(answer(503, { retryAfter: '60' }), NOW).retryAfter, 60 * SECOND)
    t.equal(judgeResult(answer(200, { retryAfter: '60' }), NOW).retryAfter, null)
  })
  await t.test('that never came is a failure by its code; a refused address blocks', async (t) => {
    const codes = ['dns', 'connect', 'tls', 'timeout', 'reset', 'protocol', 'aborted'] as const
    const never = { status_code: null, retryAfter: null, duration: 3, response: null }
    for (const code of codes) {
      const outcome = judgeResult({ ok: false, code, durationMs: 3 }, NOW)
      t.same(outcome, { ...never, verdict: 'failed', error: code })
    }
    const refused = judgeResult({ ok: false, code: 'refused_address', durationMs: 3 }, NOW)
    t.same(refused, { ...never, verdict: 'blocked', error: 'refused_address' })
  })
})

await t.test('the health of a webhook', async (t) => {
  const anyAttempt = fc.tuple(fc.constantFrom(...VERDICTS), fc.constantFrom(...TRIGGERS))
  const anyHealth: fc.Arbitrary<WebhookHealth> = fc.oneof(
    fc.constant(HEALTHY),
    fc.record({
      consecutive_failures: fc.integer({ min: 1, max: 99 }),
      first_failure_at: fc.integer({ min: 0, max: 50 }),
      failing_at: fc.option(fc.integer({ min: 50, max: 99 })),
    }),
  )
  await t.test('counts failures in a row, and forgets them at a success', async () => {
    fc.assert(
      fc.property(anyHealth, fc.array(anyAttempt, { maxLength: 12 }), (before, attempts) => {
        const news = attempts.map(([verdict, trigger], at) => ({ verdict, trigger, at: 100 + at }))
        const after = news.reduce(afterAttempt, before)
        const success = news.findLastIndex(({ verdict }) => verdict === 'succeeded')
        const counted = news.slice(success + 1).filter(isCounted)
        const kept = success === -1 ? before : HEALTHY
        t.same(after, {
          consecutive_failures: kept.consecutive_failures + counted.length,
          first_failure_at: kept.first_failure_at ?? counted[0]?.at ?? null,
          failing_at: kept.failing_at,
        })
      }),
    )
  })
  await t.test('counts what failed of itself alone, and any success', async (t) => {
    for (const trigger of TRIGGERS) {
      const counted = trigger === 'event' || trigger === 'retry'
      const once = afterAttempt(HEALTHY, { verdict: 'failed', trigger, at: 5 })
      const expected = {
        consecutive_failures: counted ? 1 : 0,
        first_failure_at: counted ? 5 : null,
      }
      t.match(once, expected, trigger)
      const failing = { ...HEALTHY, consecutive_failures: 7 }
      t.same(afterAttempt(failing, { verdict: 'succeeded', trigger, at: 5 }), HEALTHY)
    }
  })
  const health = (failures: number, failing_at: number | null = null): WebhookHealth => ({
    consecutive_failures: failures,
    first_failure_at: NOW,
    failing_at,
  })
  await t.test('disables by count and hours, and warns once at half', async (t) => {
    const rule = { failures: 20, span: 24 * HOUR }
    const rows = [
      [20, 24 * HOUR, 'disable'],
      [19, 24 * HOUR, 'failing'],
      [20, 24 * HOUR - 1, 'failing'],
      [10, 12 * HOUR, 'failing'],
      [9, 12 * HOUR, 'well'],
      [10, 12 * HOUR - 1, 'well'],
      [999, 0, 'well'],
    ] as const
    for (const [failures, lasted, expected] of rows) {
      t.equal(judgeHealth(health(failures), rule, NOW + lasted), expected, `${failures} ${lasted}`)
    }
    t.equal(judgeHealth(health(10, NOW), rule, NOW + DAY), 'well')
  })
  await t.test('goes by the count alone when the hours are 0', async (t) => {
    const rule = { failures: 3, span: 0 }
    for (const now of [NOW, NOW - HOUR]) {
      const verdicts = [1, 2, 3].map((failures) => judgeHealth(health(failures), rule, now))
      t.same(verdicts, ['well', 'failing', 'disable'])
    }
    t.equal(judgeHealth(HEALTHY, rule, NOW), 'well')
  })
})
