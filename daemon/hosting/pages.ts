import type { HeaderList } from './headers.ts'
import type { Offline } from './site.ts'

/** A page of the service, for an app without one. */
export interface Page {
  readonly status: number
  readonly html: Buffer
  readonly headers: HeaderList
}

const STYLE =
  ':root{color-scheme:light dark;font:1.125rem/1.5 system-ui,sans-serif}' +
  'main{max-width:36rem;margin:20vh auto 0;padding:0 1.5rem}'

/**
 * Only its own text.
 *
 * @param ancestors origins that may show it in a frame
 */
export function pagePolicy(ancestors: string): string {
  return `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors ${ancestors}`
}

function page(status: number, title: string, text: string, headers: HeaderList = []): Page {
  const html = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${title}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
    `<main><h1>${title}</h1><p>${text}</p></main>`,
    '</body>',
    '</html>',
    '',
  ]
  return { status, html: Buffer.from(html.join('\n')), headers }
}

export const MISSING: Page = page(
  404,
  'Page not found',
  'There is nothing at this address. It may have moved, or the link may be mistyped.',
)

export const FAILED: Page = page(
  503,
  'Not available right now',
  'This page could not be read. Please try again in a moment.',
)

/** Browsers delete their copies of an app that is offline. */
const WITHOUT_COPIES = ['Clear-Site-Data', '"cache"']

/**
 * Browsers delete the data of an archived app: another app may get its name some day. "cache" and "storage"
 * apply to the origin alone. Never "cookies": browsers clear those of the whole registrable domain, which
 * other apps, the API and its neighbours may share (Clear Site Data, 3.1).
 */
const WITHOUT_STORAGE = ['Clear-Site-Data', '"cache", "storage"']

/** An app that may come back keeps the data of its visitors. */
export const OFFLINE: Readonly<Record<Offline, Page>> = {
  unpublished: page(404, 'Not published', 'This app is not published at present.', WITHOUT_COPIES),
  archived: page(410, 'No longer here', 'This app was taken down by its owner.', WITHOUT_STORAGE),
  sign_in: page(
    403,
    'Sign-in required',
    'This app asks its visitors to sign in, which this service does not support yet.',
    WITHOUT_COPIES,
  ),
  suspended: page(404, 'Not available', 'This app is not available at present.', WITHOUT_COPIES),
}
