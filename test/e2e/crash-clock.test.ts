import { join } from 'node:path'
import t from 'tap'
import { HOUR, MINUTE } from '../../lib/time.ts'
import type { ShownDelivery } from '../crash/checks/deliveries.ts'
import { checkSchedule } from '../crash/checks/schedule.ts'
import { planJumps } from '../crash/clock/jumps.ts'
import type { Timeline } from '../crash/clock/timeline.ts'
import { RIGHT, timelineOf } from '../crash/clock/timeline.ts'
import { createWrongClock } from '../crash/clock/wrong.ts'
import { INVARIANTS, createLedger } from '../crash/ledger.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

await t.test('what a clock that jumps showed, and when', async (t) => {
  const timeline = timelineOf([
    { from: -Infinity, until: 1000, offset: 0 },
    { from: 1000, until: 2000, offset: MINUTE },
    { from: 2000, until: Infinity, offset: -500 },
  ])
  t.same(timeline.momentsOf(800), [800])
  t.same(timeline.momentsOf(1700), [2200])
  t.same(timeline.momentsOf(30_000), [30_500], 'skipped when it was set forward, shown later')
  t.same(timeline.momentsOf(MINUTE + 1200), [1200, MINUTE + 1700], 'shown twice')
  t.same(timeline.offsets({ from: 0, until: 500 }), { least: 0, most: 0 })
  t.same(timeline.offsets({ from: 500, until: 2500 }), { least: -500, most: MINUTE })
  const shown = { earliest: 500, latest: MINUTE + 2000 }
  t.same(timeline.shown({ from: 500, until: 2500 }), shown)
  t.same(
    timeline.beyond(1500, { from: 0, until: 5000 }),
    [{ from: 1000, until: 2000 }],
    'while it makes up for being set back it is not beyond',
  )
  t.same(RIGHT.beyond(1500, { from: 0, until: 5000 }), [{ from: 1500, until: 5000 }])

  const clock = createWrongClock(join(t.testdir(), 'clock'))
  for (const offset of [HOUR, -MINUTE, 0]) clock.set(offset)
  t.same(clock.furthest, { ahead: HOUR, behind: MINUTE })
  t.equal(clock.offset, 0)
})

await t.test('jumps are planned over all kills, away and back', async (t) => {
  const jumps = planJumps(60, 30, createSeededRandom('jumps'))
  const offsets = jumps.map(({ offset }) => offset)
  t.same(jumps, planJumps(60, 30, createSeededRandom('jumps')), 'by the seed')
  t.same([jumps[0]?.kill, jumps.at(-1)?.kill], [0, 29])
  t.ok(
    offsets.every((offset, index) => offset !== (offsets[index - 1] ?? 0)),
    'each changes it',
  )
  t.ok(Math.min(...offsets) <= -HOUR && Math.max(...offsets) >= HOUR && offsets.includes(0))
  t.ok(jumps.some(({ after }) => after === null) && jumps.some(({ after }) => after !== null))
})

await t.test('retries are judged by the clock that their daemons had', async (t) => {
  const came = (at: number) => ({
    at,
    path: '',
    delivery: 'd',
    event: 'e',
    hash: '',
    signature: '',
    answer: 500,
  })
  /** Attempts begun when the clock showed 10 s, which failed at once; the next arrived at `at`. */
  function violated(timeline: Timeline, at: number): readonly string[] {
    const ledger = createLedger(INVARIANTS)
    const delivery: ShownDelivery = {
      id: 'd',
      event_id: 'e',
      status: 'exhausted',
      attempt_count: 1,
      created_at: '',
      attempts: [
        {
          number: 1,
          started_at: new Date(10_000).toISOString(),
          duration_ms: 0,
          response: {},
          error: { code: 'http_status' },
        },
      ],
    }
    checkSchedule(
      delivery,
      [came(10_000), came(at)],
      { timeline, downtimes: [], late: 5000 },
      0,
      ledger,
    )
    return ledger.violations.map(({ name }) => name)
  }
  const jumpsAt = (at: number, offset: number): Timeline =>
    timelineOf([
      { from: -Infinity, until: at, offset: 0 },
      { from: at, until: Infinity, offset },
    ])
  t.same(violated(RIGHT, 11_050), [])
  t.same(violated(RIGHT, 10_500), ['schedule.kept'])
  t.same(violated(RIGHT, 40_000), ['schedule.prompt'])
  t.same(violated(jumpsAt(10_600, HOUR), 10_700), [], 'early, by a clock that was set forward')
  t.same(violated(jumpsAt(10_800, HOUR), 10_700), ['schedule.kept'], 'before that')
  t.same(violated(jumpsAt(10_600, -HOUR), HOUR + 11_200), [], 'late, by a clock that was set back')
  t.same(violated(jumpsAt(10_600, HOUR), 40_000), ['schedule.prompt'])
})
