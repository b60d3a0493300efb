import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Platform } from '../platform.ts'
import { createSharedReading } from '../queues/shared-reading.ts'
import { findPause } from '../sending/paused.ts'
import type { Step } from './state.ts'

/** Frequent probes cost no writes. */
const KEPT: Millis = SECOND

/** `/healthz`: the process responds. `/readyz`: it can also write, and is not stopping. */
export function probes({ store, clock }: Platform, leaving: AbortSignal): Step {
  const canWrite = createSharedReading(clock, KEPT, () =>
    store.ping().then(
      () => true,
      () => false,
    ),
  )
  const isSendingPaused = createSharedReading(
    clock,
    KEPT,
    async () => (await findPause(store)) !== undefined,
  )
  return async function probes(ctx, next) {
    if (ctx.path !== '/healthz' && ctx.path !== '/readyz') return next()
    const ready = ctx.path === '/healthz' || (!leaving.aborted && (await canWrite()))
    ctx.status = ready ? 200 : 503
    ctx.set('Cache-Control', 'no-store')
    const isPaused = ready && ctx.path === '/readyz' && (await isSendingPaused())
    ctx.body = { status: ready ? 'ok' : 'unavailable', ...(isPaused && { sending: 'paused' }) }
  }
}
