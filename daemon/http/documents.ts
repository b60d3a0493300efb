import { etagOf } from './conditions.ts'
import type { Step } from './state.ts'

/** A public page, the same for everyone. */
export interface Page {
  readonly type: string
  readonly body: string
  /** Its Content-Security-Policy. Default: nothing may be loaded, and nobody may frame it. */
  readonly policy?: string
}

/** Serves fixed public pages by path, such as the API's description. */
export function documents(pages: Readonly<Record<string, Page>>): Step {
  const tagged = new Map(
    Object.entries(pages).map(([path, page]) => [path, { ...page, etag: etagOf(page.body) }]),
  )
  return function documents(ctx, next) {
    const page = ctx.method === 'GET' ? tagged.get(ctx.path) : undefined
    if (page === undefined) return next()
    ctx.status = 200
    ctx.type = page.type
    ctx.set('ETag', page.etag)
    ctx.set('Cache-Control', 'public, max-age=60')
    ctx.set('Content-Security-Policy', page.policy ?? "default-src 'none'; frame-ancestors 'none'")
    ctx.set('X-Content-Type-Options', 'nosniff')
    if (ctx.fresh) ctx.status = 304
    else ctx.body = page.body
    return undefined
  }
}
