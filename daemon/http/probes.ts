import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Platform } from '../platform.ts'
import { findPause } from '../sending/paused.ts'
import type { Step } from './state.ts'

const KEPT: Millis = SECOND

/** `/healthz`: the process responds. `/readyz`: it can also write, and is not stopping. */
export function probes({ store, clock }: Platform, leaving: AbortSignal): Step {
  const canWrite = createProbe(clock, () =>
    store.ping().then(
      () => true,
      () => false,
    ),
  )
  const isSendingPaused = createProbe(clock, async () => (await findPause(store)) !== undefined)
  return async function probes(ctx, next) {
    if (ctx.path !== '/healthz' && ctx.path !== '/readyz') return next()
    const ready = ctx.path === '/healthz' || (!leaving.aborted && (await canWrite()))
    ctx.status = ready ? 200 : 503
    ctx.set('Cache-Control', 'no-store')
    const isPaused = ready && ctx.path === '/readyz' && (await isSendingPaused())
    ctx.body = { status: ready ? 'ok' : 'unavailable', ...(isPaused && { sending: 'paused' }) }
  }
}

/** One probe at a time, its result cached for a moment: frequent probes cost no writes. */
function createProbe(clock: Clock, look: () => Promise<boolean>): () => Promise<boolean> {
  let last: Promise<boolean> | undefined
  return () => {
    last ??= look()
    const own = last
    const forget = (): void => {
      clock.after(KEPT, () => {
        if (last === own) last = undefined
      })
    }
    own.then(forget, forget)
    return own
  }
}
