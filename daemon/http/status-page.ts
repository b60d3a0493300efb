import { toIso } from '../../lib/time.ts'
import { ownVersion } from '../machine/own-version.ts'
import type { Platform } from '../platform.ts'
import { findPause } from '../sending/paused.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { DaemonStatus } from '../telemetry/status.ts'
import { STATUS_PATH, readNumbers } from '../telemetry/status.ts'
import type { Step } from './state.ts'

type StatusSources = Pick<Platform, 'store' | 'clock'>

/** What the daemon does at this moment. */
export async function readStatus(
  { store, clock }: StatusSources,
  metrics: Metrics,
): Promise<DaemonStatus> {
  return {
    at: toIso(clock.now()),
    version: ownVersion(),
    uptime_seconds: Math.floor(process.uptime()),
    sending: (await findPause(store)) === undefined ? 'active' : 'paused',
    ...(await readNumbers(metrics.registry)),
    last_errors: metrics.failures.list,
  }
}

/** What `keyhook status` asks for; of the control socket, where every caller is the operator. */
export function statusPage(platform: StatusSources, metrics: Metrics): Step {
  return async function statusPage(ctx, next) {
    if (ctx.path !== STATUS_PATH || ctx.method !== 'GET') return next()
    ctx.body = await readStatus(platform, metrics)
    return undefined
  }
}
