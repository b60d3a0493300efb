import { z } from 'zod'
import type { Millis } from '../../../../lib/time.ts'
import { DAY, SECOND, toIso } from '../../../../lib/time.ts'
import { instant } from '../../../operations/instants.ts'
import { operation } from '../../../operations/operation.ts'
import type { MovableClock } from '../../../testing/clock.ts'
import { untilIdle } from '../../../testing/until-idle.ts'

/** Longer than any retry, rotation and retention. */
const MOST_SECONDS = (366 * DAY) / SECOND
/** Longer than an attempt takes by default, so that a receiver which does not answer has timed out. */
const WAIT: Millis = 15 * SECOND

export const advanceClock = (clock: Pick<MovableClock, 'advance'>) =>
  operation({
    effect: 'own',
    id: 'testing.advance_clock',
    summary: 'Move the clock of a test forward, and wait until what is then due was sent',
    method: 'POST',
    path: '/v1/test/clock',
    access: 'operator',
    agent: { omit: 'Of a test.' },
    emits: ['testing'],
    input: {
      body: z.strictObject({
        advance: z.int().min(0).max(MOST_SECONDS).meta({
          description: 'Seconds to move the clock forward by; 0 only waits.',
        }),
      }),
    },
    output: z.strictObject({
      now: instant,
      idle: z.boolean().meta({
        description:
          'Whether every delivery that is due was attempted; false after 15 seconds. While something is due that was not attempted, the clock does not move.',
      }),
    }),
    errors: ['operator_required'],
    example: {
      body: { advance: 10 },
      response: { now: '2026-01-31T12:00:10.000Z', idle: true },
    },
    async run({ platform, body }) {
      // An attempt in progress ends before the jump, or its lease would, and it would be sent twice.
      let idle = await untilIdle(platform, WAIT)
      if (idle) {
        clock.advance(body.advance * SECOND)
        idle = await untilIdle(platform, WAIT)
      }
      return { now: toIso(platform.clock.now()), idle }
    },
  })
