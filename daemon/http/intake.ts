import type { Processing } from '../billing/billing.ts'
import { receiveEvent } from '../billing/payments/intake.ts'
import type { Platform } from '../platform.ts'
import { withRawBody } from './middleware/read-body.ts'
import type { RequestContext, Step } from './state.ts'
import type { Traffic } from './traffic.ts'

/** Events name objects and carry little else. */
const MAX_EVENT = 512 * 1024

/** Where the payment processor sends its events, signed by itself. */
export const intakePath = ({ name }: Pick<Processing, 'name'>): string => `/hooks/billing/${name}`

/** Takes events of the payment processor; each is kept before the response. */
export function intake(platform: Platform, processing: Processing, traffic: Traffic): Step {
  return async function intake(ctx) {
    ctx.state.principal = undefined
    await withRawBody(ctx, traffic, MAX_EVENT, (body) =>
      receiveEvent(platform, processing, { headers: headersOf(ctx), body }),
    )
    ctx.status = 200
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { received: true }
  }
}

function headersOf({ headers }: RequestContext): Readonly<Record<string, string | undefined>> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ])
  return Object.fromEntries(entries) as Readonly<Record<string, string | undefined>>
}
