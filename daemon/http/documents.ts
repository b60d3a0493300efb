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
  const byPath = new Map(Object.entries(pages))
  const etags = new Map<Page, string>()
  return function documents(ctx, next) {
    const page = ctx.method === 'GET' ? byPath.get(ctx.path) : undefined
    if (page === undefined) return next()
    const etag = etags.get(page) ?? etagOf(page.body)
    etags.set(page, etag)
    ctx.status = 200
    ctx.type = page.type
    ctx.set('ETag', etag)
    ctx.set('Cache-Control', 'public, max-age=60')
    ctx.set('Content-Security-Policy', page.policy ?? "default-src 'none'; frame-ancestors 'none'")
    ctx.set('X-Content-Type-Options', 'nosniff')
    if (ctx.fresh) ctx.status = 304
    else ctx.body = page.body
    return undefined
  }
}
