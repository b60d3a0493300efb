import type { Store } from '../../plugins/store/contract.ts'
import type { Step } from './state.ts'

/** `/healthz`: the process answers. `/readyz`: it can also write, and is not on its way out. */
export function probes(store: Store, isLeaving: () => boolean): Step {
  return async function probes(ctx, next) {
    if (ctx.path !== '/healthz' && ctx.path !== '/readyz') return next()
    const ready = ctx.path === '/healthz' || (!isLeaving() && (await canWrite(store)))
    ctx.status = ready ? 200 : 503
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { status: ready ? 'ok' : 'unavailable' }
  }
}

function canWrite(store: Store): Promise<boolean> {
  return store.ping().then(
    () => true,
    () => false,
  )
}
