import type { ServedFile } from '../../plugins/deploy/contract.ts'
import { ENCODINGS } from '../../plugins/deploy/contract.ts'
import type { Form } from './encoding.ts'
import type { Site, SiteKind } from './site.ts'

/** Names and values in turn, as they are written. */
export type HeaderList = readonly string[]

/** Of what no app answers. */
export const PLAIN: HeaderList = [
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
]

/** What an app may ask its visitor for, and pages that it frames may not. */
const OWN_FEATURES = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb']

function appHeaders(kind: SiteKind, ancestors: string, isObserved: boolean): HeaderList {
  return [
    'X-Content-Type-Options',
    'nosniff',
    'Referrer-Policy',
    // Whoever knows the name of a preview sees it: nobody is told where a request of its pages came from.
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
 * Of every answer that an app gives, whatever it is. A preview may be framed where apps are made. Browsers
 * are asked for reports unless the app's owner opted out.
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

/** How long what is found at an address may be kept: only names that change with their content last. */
export function cachingOf(kind: SiteKind, isImmutable: boolean): HeaderList {
  if (kind === 'preview') return ['Cache-Control', 'private, no-store']
  return [
    'Cache-Control',
    isImmutable ? 'public, max-age=31536000, immutable' : 'public, max-age=0, must-revalidate',
  ]
}

/** Which headers of a request the answer went by. */
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

/** What the bytes are. */
export function describing({ type }: ServedFile, { encoding }: Form): HeaderList {
  return encoding === 'identity'
    ? ['Content-Type', type]
    : ['Content-Type', type, 'Content-Encoding', encoding]
}
