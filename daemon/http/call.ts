import { RESERVED_RESPONSE_BYTES } from '../limits/amounts.ts'
import { httpError } from '../operations/errors.ts'
import type { ResponseCookie, Waiting } from '../operations/call.ts'
import type { Platform } from '../platform.ts'
import type { Principal } from '../authority/principal.ts'
import type { AnyCall } from './perform.ts'
import { abandonedBy, onResponseEnd } from './response-end.ts'
import type { AdmissionSteps } from './middleware/admit.ts'
import type { CallContext } from './call-context.ts'
import { clearBody } from './state.ts'
import { tooManyBytes } from './traffic.ts'

/** A call whose body can be released. */
type Releasable = Omit<AnyCall, 'body' | 'bodyText'> & { body: never; bodyText: string }

/** Builds the call of an admitted request for its operation. */
export function toCall(
  ctx: CallContext,
  platform: Platform,
  { stillAdmits, confirm }: Pick<AdmissionSteps, 'stillAdmits' | 'confirm'>,
): AnyCall {
  const { principal, params, query, body, bodyText, parts, requestId, address, report } = ctx.state
  const call: Releasable = {
    platform,
    principal: principal as Principal,
    params: params as never,
    query: query as never,
    body: body as never,
    bodyText,
    parts,
    prepared: undefined,
    tx: undefined,
    via: ctx.state.via ?? { protocol: 'rest', client: ctx.get('user-agent') },
    alsoCommit: ctx.state.alsoCommit,
    hasLeft: () => ctx.req.socket?.destroyed === true,
    report,
    now: platform.clock.now(),
    requestId,
    idempotencyKey: undefined,
    ip: address,
    response: {
      setCookie: (cookie, value, expires) => {
        setCookie(ctx, cookie, value, new Date(expires))
      },
      clearCookie: (cookie) => {
        setCookie(ctx, cookie, null)
      },
    },
    reserve: (bytes) => {
      // The fixed part of the response is reserved separately.
      ctx.state.hold?.reserve(bytes + RESERVED_RESPONSE_BYTES)
    },
    charge: (bytes) => {
      const refusal = ctx.state.chargeCopy?.(bytes)
      if (refusal !== undefined) throw refusal
    },
    releaseBody: () => {
      // Its lease stays: the events that wait have about as many bytes.
      clearBody(ctx.state)
      call.body = undefined as never
      call.bodyText = ''
    },
    countRefusal: () => ctx.state.countRefusal?.(),
    abandoned: () => abandonedBy(ctx.req, ctx.res),
    waiting: () => waitingOf(ctx),
    admit: () => stillAdmits(ctx),
    confirm: (tx, now) => confirm(tx, principal, now),
  }
  return call
}

function setCookie(
  { cookies }: CallContext,
  { name, ...options }: ResponseCookie,
  value: string | null,
  expires?: Date,
): void {
  // By the address that clients see, because a proxy may terminate TLS.
  cookies.secure = options.secure
  cookies.set(name, value, { ...options, ...(expires === undefined ? {} : { expires }) })
}

/** The body's lease may be evicted until the work begins; either event aborts the same signal. */
function waitingOf({ req, res, state }: CallContext): Waiting {
  const ended = new AbortController()
  onResponseEnd(req, res, () => {
    ended.abort(httpError('request_abandoned'))
  })
  const { bodyLease } = state
  bodyLease?.offer(() => {
    ended.abort(tooManyBytes())
  })
  return { signal: ended.signal, begin: async () => bodyLease?.keep() }
}
