import type { ServedFile } from '../../plugins/deploy/contract.ts'
import { ENCODINGS } from '../../plugins/deploy/contract.ts'
import type { Form } from './encoding.ts'
import type { Site, SiteKind } from './site.ts'

/** Alternating names and values, as they are written. */
export type HeaderList = readonly string[]

/** Headers of responses that are not an app's. */
export const PLAIN: HeaderList = [
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
]

/** Features that an app may ask its visitor for, and that framed pages may not use. */
const OWN_FEATURES = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb']

function appHeaders(kind: SiteKind, ancestors: string, isObserved: boolean): HeaderList {
  return [
    'X-Content-Type-Options',
    'nosniff',
    'Referrer-Policy',
    // The name of a preview gives access to it: its pages send no referrer to other sites.
    kind === 'preview' ? 'same-origin' : 'strict-origin-when-cross-origin',
    'Origin-Agent-Cluster',
    '?1',
    'Cross-Origin-Opener-Policy',
    'same-origin-allow-popups',
    'Permissions-Policy',
    [...OWN_FEATURES.map((name) => `${name}=(self)`), 'browsing-topics=()'].join(', '),
    'Content-Security-Policy',
    `frame-ancestors ${ancestors}${isObserved ? '; report-to default; report-uri /_p/reports' : ''}`,
    ...(isObserved ? ['Reporting-Endpoints', 'default="/_p/reports"'] : []),
    ...(kind === 'preview' ? ['X-Robots-Tag', 'noindex, nofollow'] : []),
  ]
}

/**
 * Headers of every response of an app. A preview may be framed by the studio. Browsers are asked for
 * reports unless the app's owner opted out.
 */
export function createAppHeaders(
  studioOrigin: string,
): (site: Pick<Site, 'kind' | 'manifest'>) => HeaderList {
  const byKind = (isObserved: boolean): Readonly<Record<SiteKind, HeaderList>> => ({
    published: appHeaders('published', "'self'", isObserved),
    preview: appHeaders('preview', `'self' ${studioOrigin}`, isObserved),
  })
  const observed = byKind(true)
  const unobserved = byKind(false)
  return ({ kind, manifest }) => (manifest.observe === false ? unobserved : observed)[kind]
}

/** How long a response may be cached: only names that change with their content are immutable. */
export function cachingOf(kind: SiteKind, isImmutable: boolean): HeaderList {
  if (kind === 'preview') return ['Cache-Control', 'private, no-store']
  return [
    'Cache-Control',
    isImmutable ? 'public, max-age=31536000, immutable' : 'public, max-age=0, must-revalidate',
  ]
}

/** Request headers that the response depends on. */
export function varying(
  file: ServedFile | undefined,
  byAccept: boolean,
  byDestination = false,
): HeaderList {
  const hasForms = file !== undefined && ENCODINGS.some((name) => file.encoded[name] !== undefined)
  const names = [
    byAccept ? ['Accept'] : [],
    hasForms ? ['Accept-Encoding'] : [],
    byDestination ? ['Sec-Fetch-Dest'] : [],
  ].flat()
  return names.length === 0 ? [] : ['Vary', names.join(', ')]
}

/** Media type and encoding of the bytes. */
export function describing({ type }: ServedFile, { encoding }: Form): HeaderList {
  return encoding === 'identity'
    ? ['Content-Type', type]
    : ['Content-Type', type, 'Content-Encoding', encoding]
}
