import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type { Platform } from '../platform.ts'
import type { Step } from './state.ts'

const KEPT: Millis = SECOND

/** `/healthz`: the process responds. `/readyz`: it can also write, and is not stopping. */
export function probes({ store, clock }: Platform, leaving: AbortSignal): Step {
  const canWrite = createProbe(store, clock)
  return async function probes(ctx, next) {
    if (ctx.path !== '/healthz' && ctx.path !== '/readyz') return next()
    const ready = ctx.path === '/healthz' || (!leaving.aborted && (await canWrite()))
    ctx.status = ready ? 200 : 503
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { status: ready ? 'ok' : 'unavailable' }
  }
}

/** One probe at a time, its result cached for a moment: frequent probes cost no writes. */
function createProbe(store: Store, clock: Clock): () => Promise<boolean> {
  let last: Promise<boolean> | undefined
  return () => {
    last ??= store.ping().then(
      () => true,
      () => false,
    )
    const own = last
    void own.then(() =>
      clock.after(KEPT, () => {
        if (last === own) last = undefined
      }),
    )
    return own
  }
}
