import compose from 'koa-compose'
import type { ErrorListener } from '../../daemon/http/middleware/error-handler.ts'
import { answerError, errorHandler } from '../../daemon/http/middleware/error-handler.ts'
import { holdOthers } from '../../daemon/http/middleware/hold.ts'
import { requestId } from '../../daemon/http/middleware/request-id.ts'
import type { MountOptions } from '../../daemon/http/mount.ts'
import { mount } from '../../daemon/http/mount.ts'
import type { Step } from '../../daemon/http/state.ts'
import { createTraffic } from '../../daemon/http/traffic.ts'

/** Operations without what else the daemon serves. */
export function mountAlone({
  onError,
  ...options
}: Omit<MountOptions, 'before'> & { readonly onError: ErrorListener }): Step {
  const { platform, trustedProxies = [] } = options
  const traffic = options.traffic ?? createTraffic({ clock: platform.clock })
  const { fixed, others } = mount({ ...options, traffic, before: [] })
  const hold = holdOthers(traffic, trustedProxies, (ctx, cause) => {
    answerError(ctx, cause, platform.baseUrl)
  })
  const steps = [requestId(platform.random), hold, errorHandler(platform.baseUrl, onError)]
  return compose([...steps, fixed, others])
}
