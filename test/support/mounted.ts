import compose from 'koa-compose'
import { requestId } from '../../daemon/http/middleware/request-log.ts'
import type { ErrorListener } from '../../daemon/http/middleware/respond.ts'
import { respond } from '../../daemon/http/middleware/respond.ts'
import type { MountOptions } from '../../daemon/http/mount.ts'
import { mount } from '../../daemon/http/mount.ts'
import type { Step } from '../../daemon/http/state.ts'
import type { Traffic } from '../../daemon/http/traffic.ts'
import { createTraffic } from '../../daemon/http/traffic.ts'

export interface AloneOptions extends Omit<MountOptions, 'before' | 'traffic'> {
  readonly onError: ErrorListener
  /** Default: of these operations alone. */
  readonly traffic?: Traffic
}

/** Operations without what else the daemon serves. */
export function mountAlone({ onError, ...options }: AloneOptions): Step {
  const { platform, trustedProxies = [] } = options
  const { clock, store } = platform
  const traffic = options.traffic ?? createTraffic({ clock, changes: store.changes })
  const { fixed, others } = mount({ ...options, traffic, before: [] })
  const { baseUrl } = platform
  const responding = respond({ baseUrl, traffic, trustedProxies, onError })
  return compose([requestId(platform.random), responding, fixed, others])
}
