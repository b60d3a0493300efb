import { publicCard } from '../agents/card.ts'
import type { Platform } from '../platform.ts'
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

/** The public card of the agent, at its path and at that of older callers. */
export function cardPages(
  platform: Pick<Platform, 'catalogue' | 'baseUrl'>,
): Readonly<Record<string, Page>> {
  const page = { type: 'application/json', body: JSON.stringify(publicCard(platform)) }
  return { '/.well-known/agent-card.json': page, '/.well-known/agent.json': page }
}

const BODY = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Thank you</title>
<h1>Thank you</h1>
<p>You can close this page. Credit and plan change when the payment processor reports the payment, which
takes seconds for most methods and days for some. This page changes nothing.</p>
</html>
`

/** Where the pages of a payment processor lead back to. */
export const DONE_PAGE: Readonly<Record<string, Page>> = {
  '/billing/done': { type: 'text/html; charset=utf-8', body: BODY },
}
