import { holderOf } from '../authority/principal.ts'
import type { BodyLease, RequestContext } from './state.ts'
import type { Traffic } from './traffic.ts'
import { poolsFor, tooManyBytes } from './traffic.ts'

/**
 * Reserves a body before it is read: all of it where its length is announced, else as it comes in.
 *
 * @param amount what it holds where that is not its length
 * @param evict told when others need the bytes more
 * @throws KeyhookError `too_many_bytes`
 */
export function leaseBody(
  ctx: RequestContext,
  traffic: Traffic,
  evict: () => void,
  amount?: number,
): BodyLease {
  const announced = amount ?? Number(ctx.get('content-length') || 0)
  const { principal, address } = ctx.state
  const { bodies } = poolsFor(principal, traffic)
  const lease = bodies.take(holderOf(principal, address), announced, evict)
  if (lease === undefined) throw tooManyBytes()
  return {
    add: (bytes) => announced > 0 || lease.add(bytes),
    keep: lease.keep,
    offer: lease.offer,
    release: lease.release,
  }
}
