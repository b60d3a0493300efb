import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { FULL_AUTHORITY } from '../../lib/grant/authority.ts'
import type { Instant } from '../../lib/time.ts'
import type { UserPrincipal } from '../authority/principal.ts'

/** A user who is signed in to the embedder's product. */
export interface SignedIn {
  readonly account_id: string
  /** Recorded in the audit log. */
  readonly user_id: string
  readonly email?: string
  /**
   * When they last proved their identity: creating and rotating keys needs this within the last ten
   * minutes. Default: now, which leaves the check to your own sign-in.
   */
  readonly authenticated_at?: Instant
}

export interface RouteOptions {
  /** Path prefix of the routes, such as `/developer`. Default: the root. */
  readonly prefix?: string
  /** Returns the signed-in user of a request without a developer key. Default: none. */
  readonly resolve?: (request: IncomingMessage) => Promise<SignedIn | undefined>
}

/** Responds, or calls `next` for a path outside its prefix; without `next` that is a 404. */
export type Callback = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: () => void,
) => void

/** The part of Koa's context that is used. */
interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  respond?: boolean
}

/** The part of a Fastify instance that is used. */
interface FastifyLike {
  readonly prefix: string
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): void
  all(
    path: string,
    handler: (
      request: { readonly raw: IncomingMessage },
      reply: { readonly raw: ServerResponse; hijack(): void },
    ) => void,
  ): unknown
}

/** The principal of a signed-in user, who owns their account. */
export function toPrincipal(signedIn: SignedIn, now: Instant): UserPrincipal {
  const { account_id, user_id, email = '', authenticated_at = now } = signedIn
  return {
    type: 'user',
    account_id,
    user_id,
    email,
    session_hash: '',
    authenticated_at,
    authority: FULL_AUTHORITY,
  }
}

/**
 * @throws TypeError for a prefix that is not a path
 */
export function callbackOf(handler: RequestListener, prefix = ''): Callback {
  if (!/^(\/[\w.~-]+)*$/.test(prefix))
    throw new TypeError(`${prefix} is no path, such as /developer`)
  return (request, response, next) => {
    const path = pathBelow(request.url ?? '/', prefix)
    if (path === undefined && next !== undefined) {
      next()
      return
    }
    // A path outside the prefix gets the response of any unknown path.
    request.url = path ?? '/not-below-the-prefix'
    handler(request, response)
  }
}

function pathBelow(url: string, prefix: string): string | undefined {
  if (!url.startsWith(prefix)) return undefined
  const rest = url.slice(prefix.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : undefined
}

/** As Koa middleware, which leaves the context unchanged. */
export function koaOf(
  callback: Callback,
): (ctx: KoaContext, next: () => Promise<unknown>) => Promise<unknown> {
  return async (ctx, next) => {
    const isElsewhere = await new Promise<boolean>((resolve) => {
      if (ctx.res.closed) resolve(false)
      ctx.res.once('close', () => {
        resolve(false)
      })
      callback(ctx.req, ctx.res, () => {
        resolve(true)
      })
    })
    if (isElsewhere) return next()
    ctx.respond = false
    return undefined
  }
}

/** As a Fastify plugin: nothing else parses its bodies, so that their bytes stay as sent. */
export function fastifyOf(
  callbackAt: (prefix: string) => Callback,
): (instance: FastifyLike) => Promise<void> {
  return async (instance) => {
    const callback = callbackAt(instance.prefix)
    instance.removeAllContentTypeParsers()
    instance.addContentTypeParser('*', (_request, _payload, done) => {
      done(null)
    })
    instance.all('/*', (request, reply) => {
      reply.hijack()
      callback(request.raw, reply.raw)
    })
  }
}
