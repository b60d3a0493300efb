import fc from 'fast-check'
import t from 'tap'
import type { WebhookHealth } from '../../lib/delivery/health.ts'
import { afterAttempt, HEALTHY, isCounted, judgeHealth } from '../../lib/delivery/health.ts'
import type { SendResult } from '../../lib/delivery/outcome.ts'
import { judgeResult, MAX_RETRY_AFTER, parseRetryAfter } from '../../lib/delivery/outcome.ts'
import type { AttemptTrigger } from '../../lib/delivery/state.ts'
import { utf8 } from '../../lib/internal/bytes.ts'
import { DAY, HOUR, SECOND } from '../../lib/time.ts'
import { NOW, VERDICTS } from '../support/verdicts.ts'

const TRIGGERS: readonly AttemptTrigger[] = ['event', 'retry', 'manual', 'test', 'replay']

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
    [`x${new Date(NOW + HOUR).toUTCString()}`, null],
    [`${new Date(NOW + HOUR).toUTCString()}+1`, null],
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
        const results = attempts.map(([verdict, trigger], at) => ({
          verdict,
          trigger,
          at: 100 + at,
        }))
        const after = results.reduce(afterAttempt, before)
        const success = results.findLastIndex(({ verdict }) => verdict === 'succeeded')
        const counted = results.slice(success + 1).filter(isCounted)
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

await t.test('only failures count, and only from a first one on', async (t) => {
  t.equal(isCounted({ verdict: 'succeeded', trigger: 'event' }), false)
  t.equal(isCounted({ verdict: 'failed', trigger: 'event' }), true)
  const unknown: WebhookHealth = { ...HEALTHY, consecutive_failures: 100 }
  t.equal(judgeHealth(unknown, { failures: 3, span: 0 }, NOW), 'well')
})
