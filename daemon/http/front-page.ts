import { createHash } from 'node:crypto'
import { html } from '../docs/html.ts'
import type { Catalogue } from '../platform.ts'
import type { Step } from './state.ts'

const STYLE =
  ':root{color-scheme:light dark;font:1.125rem/1.5 system-ui,sans-serif}' +
  'main{max-width:36rem;margin:15vh auto 0;padding:0 1.5rem}'

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** `GET /`: a page for people, and JSON for programs, which do not accept text/html. */
export function frontPage(
  { service, version }: Pick<Catalogue, 'service' | 'version'>,
  hasUser: () => Promise<boolean>,
): Step {
  const [firstPage, page] = [pageOf(service, 'no user yet'), pageOf(service, 'set up')]
  let isSetUp = false
  const facts = JSON.stringify({
    service,
    version,
    docs: '/docs',
    openapi: '/v1/openapi.json',
    health: '/healthz',
  })
  return async function frontPage(ctx, next) {
    if (ctx.path !== '/' || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next()
    const isPerson = /\btext\/html\b/i.test(ctx.get('accept'))
    ctx.status = 200
    ctx.set('Vary', 'Accept')
    ctx.set('Cache-Control', 'no-cache')
    ctx.set('Content-Security-Policy', POLICY)
    ctx.set('X-Content-Type-Options', 'nosniff')
    ctx.type = isPerson ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8'
    // The page is served even when the database does not respond.
    if (isPerson) isSetUp ||= await hasUser().catch(() => true)
    ctx.body = isPerson ? (isSetUp ? page : firstPage) : `${facts}\n`
    return undefined
  }
}

/** Links are relative: the service may have a path prefix. The policy names the hash of the style. */
function pageOf(service: string, state: 'no user yet' | 'set up'): string {
  const setup =
    'Do you run this server? The first user is created with the setup link that it printed at start.'
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${service}: developer API</title>
        STYLE
      </head>
      <body>
        <main>
          <h1>${service}: developer API</h1>
          <p>This is an API server: developer keys, webhooks and apps.</p>
          <ul>
            <li><a href="studio">Studio</a></li>
            <li><a href="docs">API reference</a></li>
            <li><a href="v1/openapi.json">OpenAPI document</a></li>
            <li><a href="docs/errors">Error codes</a></li>
          </ul>
          SETUP
        </main>
      </body>
    </html> `.text
    .replace('STYLE', `<style>${STYLE}</style>`)
    .replace('SETUP', state === 'set up' ? '' : `<p>${setup}</p>`)
}
