/**
 * Serves Studio at `/studio`: one page for every address of its own, hashed files, and the brand's style sheet. Files
 * are found by name in a map, never by joining paths.
 *
 * @module
 */
import { lookup } from 'mrmime'
import { etagOf } from '../http/conditions.ts'
import type { RequestContext, Step } from '../http/state.ts'
import { brandStyle } from './brand.ts'
import type { BuiltFile, BuiltStudio, Shipped } from './files.ts'
import { SHIPPED, readStudio } from './files.ts'

export interface StudioOptions {
  /** The brand, in lower case. */
  readonly brand: string
  /** Colour of the brand, `#rrggbb`. */
  readonly color: string
  /** Address that clients see; it may have a path. */
  readonly baseUrl: string
  /** Source expression of the origins of previews, such as `https://*.apps.example.net`. Default: none. */
  readonly previews?: string | undefined
  /** Default: what this installation was built with. */
  readonly read?: () => Promise<BuiltStudio | undefined>
}

/** Files of this origin only, and previews of apps in frames: nothing inline, and no frame around the page. */
function policyOf(previews: string | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `frame-src ${previews ?? "'none'"}`,
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

const HEADERS = {
  'Content-Security-Policy': policyOf(undefined),
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const

const PAGE = /^\/studio(\/(?!assets\/)[^.]*)?$/
const ASSETS = '/studio/assets/'
const BRAND = '/studio/brand.css'

/**
 * Serves Studio; other requests continue.
 *
 * @example
 * app.use(serveStudio({ brand: 'service', color: '#3b5bdb', baseUrl }))
 */
export function serveStudio(options: StudioOptions): Step {
  const { brand, color, baseUrl, previews, read = readStudio } = options
  const style = brandStyle(color)
  const headers = { ...HEADERS, 'Content-Security-Policy': policyOf(previews) }
  const base = `${new URL(baseUrl).pathname.replace(/\/+$/, '')}/studio/`
  const name = escapeHtml(brand.charAt(0).toUpperCase() + brand.slice(1))
  let reading: Promise<BuiltStudio | undefined> | undefined
  const page = ({ page: text }: BuiltStudio): string =>
    text.replaceAll('{{base}}', () => escapeHtml(base)).replaceAll('{{name}}', () => name)

  return async function serveStudio(ctx, next) {
    if (!/^\/studio(\/|$)/.test(ctx.path) || !['GET', 'HEAD'].includes(ctx.method)) return next()
    reading ??= read()
    const built = await reading.catch((error: unknown) => {
      // The next request tries again: a lack of descriptors ends.
      reading = undefined
      throw error
    })
    if (built === undefined) return next()
    const asset = built.assets.get(ctx.path.slice(ASSETS.length))
    if (ctx.path.startsWith(ASSETS) && asset !== undefined) return sendAsset(ctx, asset)
    if (ctx.path === BRAND) return sendStyle(ctx, style)
    if (!PAGE.test(ctx.path)) return next()
    ctx.set(headers)
    ctx.set('Cache-Control', 'no-store')
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = page(built)
  }
}

/** The name has a hash of the content: a browser never needs to ask again. */
async function sendAsset(ctx: RequestContext, file: BuiltFile): Promise<void> {
  const accepted = ctx.acceptsEncodings()
  const encoding = (Object.keys(SHIPPED) as Shipped[]).find((one) => accepted.includes(one))
  ctx.set(HEADERS)
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable')
  ctx.vary('Accept-Encoding')
  ctx.set('Content-Type', typeOf(ctx.path))
  if (encoding !== undefined) ctx.set('Content-Encoding', encoding)
  ctx.body = encoding === undefined ? await file.plain() : file[encoding]
}

function typeOf(path: string): string {
  const type = lookup(path) ?? 'application/octet-stream'
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}

function sendStyle(ctx: RequestContext, style: string): void {
  ctx.set(HEADERS)
  ctx.set('Cache-Control', 'no-cache')
  ctx.set('ETag', etagOf(style))
  ctx.status = 200
  ctx.type = 'text/css; charset=utf-8'
  if (ctx.fresh) ctx.status = 304
  else ctx.body = style
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
