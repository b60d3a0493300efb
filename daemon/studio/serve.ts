/**
 * Serves Studio at `/studio` and the portal at `/portal`: one page for every address of its own, hashed files, and the
 * brand's style sheet. Files are found by name in a map, never by joining paths.
 *
 * @module
 */
import { lookup } from 'mrmime'
import { etagOf } from '../http/conditions.ts'
import type { RequestContext, Step } from '../http/state.ts'
import { brandStyle } from './brand.ts'
import type { BuiltFile, BuiltStudio, Shipped } from './files.ts'
import { SHIPPED, readStudio } from './files.ts'

export interface PageOptions {
  /** The brand, in lower case. */
  readonly brand: string
  /** Colour of the brand, `#rrggbb`. */
  readonly color: string
  /** Address that clients see; it may have a path. */
  readonly baseUrl: string
  /** Default: what this installation was built with. */
  readonly read?: () => Promise<BuiltStudio | undefined>
}

export interface StudioOptions extends PageOptions {
  /** Source expression of the origins of previews, such as `https://*.apps.example.net`. Default: none. */
  readonly previews?: string | undefined
}

export interface PortalOptions extends PageOptions {
  /** Origins whose pages may show it in a frame. */
  readonly frameAncestors: readonly string[]
}

/** Files of this origin only, and previews of apps in frames: nothing inline. */
function policyOf(frames: string, ancestors: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `frame-src ${frames}`,
    "base-uri 'self'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

const NONE = "'none'"

const SHARED = {
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const

/** Of browsers that know no `frame-ancestors`, which the others follow alone. */
const NO_FRAMES = { 'X-Frame-Options': 'DENY' } as const

const HEADERS = {
  ...SHARED,
  ...NO_FRAMES,
  'Content-Security-Policy': policyOf(NONE, NONE),
} as const

/** One of the pages that Vite built. */
interface Place extends PageOptions {
  readonly path: '/studio' | '/portal'
  readonly pageOf: (built: BuiltStudio) => string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Serves Studio; other requests continue.
 *
 * @example
 * app.use(serveStudio({ brand: 'service', color: '#3b5bdb', baseUrl }))
 */
export function serveStudio({ previews = NONE, ...options }: StudioOptions): Step {
  return serveAt({
    ...options,
    path: '/studio',
    pageOf: ({ page }) => page,
    headers: { ...HEADERS, 'Content-Security-Policy': policyOf(previews, NONE) },
  })
}

/**
 * Serves the portal, the only page that others may show in a frame; other requests continue.
 *
 * @example
 * app.use(servePortal({ brand: 'service', color: '#3b5bdb', baseUrl, frameAncestors: ['https://app.example.com'] }))
 */
export function servePortal({ frameAncestors, ...options }: PortalOptions): Step {
  const isFramed = frameAncestors.length > 0
  return serveAt({
    ...options,
    path: '/portal',
    pageOf: ({ portal }) => portal,
    headers: {
      ...SHARED,
      ...(isFramed ? {} : NO_FRAMES),
      'Content-Security-Policy': policyOf(NONE, isFramed ? frameAncestors.join(' ') : NONE),
    },
  })
}

function serveAt(place: Place): Step {
  const { path, pageOf, brand, color, baseUrl, headers, read = readStudio } = place
  const isBelow = new RegExp(`^${path}(/|$)`)
  const isPage = new RegExp(`^${path}(/(?!assets/)[^.]*)?$`)
  const assets = `${path}/assets/`
  const style = brandStyle(color)
  const base = `${new URL(baseUrl).pathname.replace(/\/+$/, '')}${path}/`
  const name = escapeHtml(brand.charAt(0).toUpperCase() + brand.slice(1))
  let reading: Promise<BuiltStudio | undefined> | undefined
  const page = (built: BuiltStudio): string =>
    pageOf(built)
      .replaceAll('{{base}}', () => escapeHtml(base))
      .replaceAll('{{name}}', () => name)

  return async function serveStudio(ctx, next) {
    if (!isBelow.test(ctx.path) || !['GET', 'HEAD'].includes(ctx.method)) return next()
    reading ??= read()
    const built = await reading.catch((error: unknown) => {
      // The next request tries again: a lack of descriptors ends.
      reading = undefined
      throw error
    })
    if (built === undefined) return next()
    const asset = built.assets.get(ctx.path.slice(assets.length))
    if (ctx.path.startsWith(assets) && asset !== undefined) return sendAsset(ctx, asset)
    if (ctx.path === `${path}/brand.css`) return sendStyle(ctx, style)
    if (!isPage.test(ctx.path)) return next()
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
