import t from 'tap'
import { createBuckets } from '../../daemon/limits/buckets.ts'
import type { Operation } from '../../daemon/operations/operation.ts'
import { createRateLimit } from '../../daemon/http/middleware/rate-limit.ts'
import { getWebhook } from '../../daemon/families/webhooks/operations/read.ts'
import { HOUR, MINUTE } from '../../lib/time.ts'

type Step = ReturnType<ReturnType<typeof createRateLimit>>

/** Somebody who reads twice a minute at most, by a clock that can be set. */
function reader() {
  const clock = { time: 1_800_000_000_000 }
  const step = createRateLimit({
    limits: { reads: 2, writes: 0 },
    clock: { now: () => clock.time },
    buckets: createBuckets(),
  })(getWebhook as unknown as Operation)
  const ctx = {
    get: () => '',
    state: { principal: undefined, address: '192.0.2.1' },
    set: () => undefined,
  }
  async function isLetIn(): Promise<boolean> {
    try {
      await step(ctx as unknown as Parameters<Step>[0], async () => undefined)
      return true
    } catch {
      return false
    }
  }
  return { clock, isLetIn }
}

void t.test(
  'a caller is let in as often as a minute allows, and again as it refills',
  async (t) => {
    const { clock, isLetIn } = reader()
    t.same([await isLetIn(), await isLetIn(), await isLetIn()], [true, true, false])
    clock.time += MINUTE / 2
    t.same([await isLetIn(), await isLetIn()], [true, false])
  },
)

void t.test('a clock that is set back locks nobody out', async (t) => {
  const { clock, isLetIn } = reader()
  t.ok(await isLetIn())
  clock.time -= 3 * HOUR
  t.same([await isLetIn(), await isLetIn()], [true, false], 'what was left is left')
  clock.time += MINUTE / 2
  t.ok(await isLetIn(), 'and it refills by the clock as it is')
})
