import { SHOP } from './apps.ts'
import type { Expected, Row } from './row.ts'
import { LOST, MALFORMED, NOBODY, NO_REQUEST, ask, get, got } from './row.ts'

const page = (text: string): Expected => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8', location: null },
  body: new RegExp(text),
})

const moved = (place: string): Expected => ({
  status: 308,
  headers: { location: place, 'content-length': '0', etag: null },
  body: '',
})

const path = (target: string, expected: Expected): Row => got(`path: ${target}`, target, expected)

/** No file of ours, whatever stands in its way. */
const nothing = (target: string): Row =>
  path(target, { status: 404, headers: { 'cache-control': 'no-store' } })

const bad = (target: string): Row => ({
  name: `path: ${target}`,
  send: get(target),
  answers: [{ status: 400, headers: { 'cache-control': 'no-store' } }],
})

const routed = (target: string, accept: string, expected: Expected): Row => ({
  name: `routed by the app: ${target} as ${accept}`,
  send: ask('GET', target, { Host: 'router.localhost', Accept: accept }),
  answers: [expected],
})

/** What browsers send for what they show. */
const SHOW = 'text/html,application/xhtml+xml,*/*;q=0.8'
const ROUTER: Expected = { status: 200, headers: { vary: /^Accept\b/ }, body: /router/ }
const NOT_ROUTED: Expected = { status: 404, body: /Page not found/ }

/** Of the API's listener, where there is something. */
const OF_THE_API = [
  '/v1/apps',
  '/v1/openapi.json',
  '/healthz',
  '/readyz',
  '/metrics',
  '/studio',
  '/docs',
  '/mcp',
]

export const PATH_ROWS: readonly Row[] = [
  path('/', page('shop')),
  path('/?a=1', page('shop')),
  path('/index.html', page('shop')),
  path('/about', page('about')),
  path('/about.html', page('about')),
  path('/about?next=%2F..%2F', page('about')),
  path('/guide/', page('guide')),
  path('/guide', moved('/guide/')),
  path('/guide?a=%2F&b=//evil.example', moved('/guide/?a=%2F&b=//evil.example')),
  path('/%67uide', moved('/%67uide/')),
  path('/guide/intro', page('intro')),
  path('/both', page('both, the file')),
  path('/both/', page('both, the folder')),
  path('/with%20space.txt', { status: 200, body: 'a space' }),
  path('/caf%C3%A9.txt', { status: 200, body: 'an accent' }),
  path('/caf%c3%a9.txt', { status: 200, body: 'an accent' }),
  path('/%25.txt', { status: 200, body: 'a percent sign' }),
  path('/400', { status: 200, body: 'a file that is called 400' }),
  path('/%61bout', page('about')),
  path('/about%252ehtml', LOST),
  path('/About', LOST),
  path('/missing', LOST),
  path('/about/', LOST),
  path('/about.html/', LOST),
  path('/guide/index', page('guide')),
  path('/__proto__', LOST),
  path('/constructor', LOST),
  nothing('/../etc/passwd'),
  nothing('/guide/../about'),
  nothing('/%2e%2e/about'),
  nothing('/%2E%2E%2Fabout'),
  nothing('/guide%2findex.html'),
  nothing('/guide%5Cindex.html'),
  nothing('/guide\\index.html'),
  nothing('/..\\..\\etc\\passwd'),
  nothing('/about%00.html'),
  nothing('/about%0d%0aSet-Cookie:%20a=b'),
  nothing('/.env'),
  nothing('/.well-known/security.txt'),
  nothing('/guide/.hidden'),
  nothing('//about'),
  nothing('//evil.example/%2e%2e'),
  nothing('/guide//'),
  nothing('/./about'),
  bad('/%'),
  bad('/%zz'),
  bad('/caf%E9.txt'),
  bad('/%c0%ae%c0%ae/about'),
  { name: 'path: not ASCII as it is', send: get('/caf\u00e9.txt'), ...NO_REQUEST },
  { name: 'path: with a fragment', send: get('/about#top'), ...MALFORMED },
  {
    name: 'path: as long as is taken',
    send: get(`/${'a'.repeat(7999)}`),
    answers: [LOST],
  },
  {
    name: 'path: longer',
    send: get(`/${'a'.repeat(8000)}`),
    answers: [{ status: 414, headers: { 'cache-control': 'no-store' } }],
    closes: true,
  },
  {
    name: 'path: longer than all of a head may be',
    send: get(`/${'a'.repeat(20_000)}`),
    answers: [{ status: 431, curt: true }],
    closes: true,
  },
  {
    name: 'path: missing where the app has no page for it',
    send: ask('GET', '/missing', { Host: 'bare.localhost' }),
    answers: [
      {
        status: 404,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-store',
          'content-security-policy': /default-src 'none'/,
        },
        body: /<html lang="en">[^]*<h1>Page not found<\/h1>/,
      },
    ],
  },
  ...OF_THE_API.map((target) => path(target, LOST)),
  got(
    'path: another in X-Original-URL',
    '/canary.txt',
    { status: 200, body: /canary/ },
    {
      'X-Original-URL': '/about',
      'X-Rewrite-URL': '/about',
    },
  ),
  path('/assets/app.00000000.js', {
    status: 200,
    headers: { 'cache-control': 'public, max-age=31536000, immutable' },
    body: /old/,
  }),
  path('/old', LOST),
  path('/old.html', LOST),
  path('/_p/obs.js', {
    status: 200,
    headers: { 'content-type': 'text/javascript; charset=utf-8', etag: /^"\w+"$/ },
    body: /sendBeacon/,
  }),
  path('/%5Fp/obs.js', { status: 200, body: /sendBeacon/ }),
  path('/_p/', NOBODY),
  path('/_p', NOBODY),
  path('/_p/other', NOBODY),
  path('/_p/beacon', { status: 405, headers: { allow: 'POST, OPTIONS' } }),
  path('/_pages', LOST),
  routed('/any/route', SHOW, ROUTER),
  routed('/any/', SHOW, ROUTER),
  routed('/any/route', '*/*', NOT_ROUTED),
  routed('/any/route', 'text/html;q=0', NOT_ROUTED),
  routed('/any/picture.png', SHOW, NOT_ROUTED),
  routed('/..%2f', SHOW, NOT_ROUTED),
  routed('/assets/app.77777777.js', SHOW, { status: 200, headers: { vary: 'Accept-Encoding' } }),
  {
    name: 'preview: kept by nobody, found by no search',
    send: ask('GET', '/assets/app.3f9a2c1b.js', { Host: 'abc123--shop.localhost' }),
    answers: [
      {
        status: 200,
        headers: {
          'cache-control': 'private, no-store',
          'referrer-policy': 'same-origin',
          'x-robots-tag': 'noindex, nofollow',
          'content-security-policy': /^frame-ancestors 'self' https:\/\/keyhook\.example;/,
        },
        body: SHOP['assets/app.3f9a2c1b.js'].body,
      },
    ],
  },
  {
    name: 'headers: of a page',
    send: ask('GET', '/', { Host: 'bare.localhost' }),
    answers: [
      {
        status: 200,
        headers: {
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'strict-origin-when-cross-origin',
          'origin-agent-cluster': '?1',
          'cross-origin-opener-policy': 'same-origin-allow-popups',
          'permissions-policy': /camera=\(self\)/,
          'content-security-policy': /^frame-ancestors 'self'; report-to default;/,
          'reporting-endpoints': 'default="/_p/reports"',
          'cache-control': 'public, max-age=0, must-revalidate',
          'last-modified': null,
          'x-robots-tag': null,
          'x-powered-by': null,
          server: null,
        },
      },
    ],
  },
  {
    name: 'headers: of an app whose owner opted out of reports',
    send: ask('GET', '/', { Host: 'shop.localhost' }),
    answers: [
      {
        status: 200,
        headers: {
          'content-security-policy': "frame-ancestors 'self'",
          'reporting-endpoints': null,
        },
      },
    ],
  },
  got(
    'headers: a cookie is not read',
    '/canary.txt',
    { status: 200, headers: { vary: null }, body: /canary/ },
    { Cookie: 'session=stolen' },
  ),
]
