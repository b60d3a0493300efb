import { toIso } from '../../lib/time.ts'
import { ownVersion } from '../machine/own-version.ts'
import type { Platform } from '../platform.ts'
import { findPause } from '../sending/paused.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { DaemonStatus } from '../telemetry/status.ts'
import { STATUS_PATH, readNumbers } from '../telemetry/status.ts'
import type { Step } from './state.ts'

/** What `keyhook status` asks for; of the control socket, where every caller is the operator. */
export function statusPage({ store, clock }: Platform, metrics: Metrics): Step {
  const read = async (): Promise<DaemonStatus> => ({
    at: toIso(clock.now()),
    version: ownVersion(),
    uptime_seconds: Math.floor(process.uptime()),
    sending: (await findPause(store)) === undefined ? 'active' : 'paused',
    ...(await readNumbers(metrics.registry)),
    last_errors: metrics.failures.list,
  })
  return async function statusPage(ctx, next) {
    if (ctx.path !== STATUS_PATH || ctx.method !== 'GET') return next()
    ctx.body = await read()
    return undefined
  }
}
