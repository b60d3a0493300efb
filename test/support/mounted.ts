import compose from 'koa-compose'
import type { ErrorListener } from '../../daemon/http/middleware/error-handler.ts'
import { errorHandler } from '../../daemon/http/middleware/error-handler.ts'
import { requestId } from '../../daemon/http/middleware/request-id.ts'
import type { MountOptions } from '../../daemon/http/mount.ts'
import { mount } from '../../daemon/http/mount.ts'
import type { Step } from '../../daemon/http/state.ts'

/** Operations without what else the daemon serves. */
export function mountAlone({
  onError,
  ...options
}: Omit<MountOptions, 'before'> & { readonly onError: ErrorListener }): Step {
  const { platform } = options
  const { fixed, others } = mount({ ...options, before: [] })
  const steps = [requestId(platform.random), errorHandler(platform.baseUrl, onError)]
  return compose([...steps, fixed, others])
}
