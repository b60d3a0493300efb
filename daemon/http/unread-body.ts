import type { RequestContext, Step } from './state.ts'

/** Bytes of a body that Node reads away after the response, so that its connection can be used again. */
const MAX_DRAINED = 64 * 1024

/** Closes the connection behind a response that came before its request's body, such as a 401. */
export function closeUnread(): Step {
  return async function closeUnread(ctx, next) {
    if (isShort(ctx.req)) return next()
    try {
      return await next()
    } finally {
      if (!ctx.req.complete && !ctx.headerSent) ctx.set('Connection', 'close')
    }
  }
}

/** Whether the body is announced to be short, or there is none. */
function isShort({ headers }: RequestContext['req']): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers
  return coding === undefined && Number(length) <= MAX_DRAINED
}
