import { etagOf } from '../../support/hosted-apps.ts'
import { SHOP } from './apps.ts'
import type { Expected, Row } from './row.ts'
import { ask, got } from './row.ts'

const ABOUT = SHOP['about.html']
const TAG = etagOf(ABOUT)
const BROTLI = etagOf(ABOUT, 'br')
const OTHER = `"${'0'.repeat(64)}"`
const FRESH: Expected = { status: 200, headers: { etag: TAG }, body: ABOUT.body }
const SAME: Expected = {
  status: 304,
  headers: {
    etag: TAG,
    'cache-control': 'public, max-age=0, must-revalidate',
    vary: 'Accept-Encoding',
    'content-length': null,
    'content-type': null,
  },
}
const NOT_THAT: Expected = { status: 412, headers: { 'cache-control': 'no-store', etag: null } }

const asked = (name: string, value: string, expected: Expected): Row =>
  got(`${name}: ${value}`, '/about', expected, { [name]: value })

export const CONDITION_ROWS: readonly Row[] = [
  asked('If-None-Match', TAG, SAME),
  asked('If-None-Match', `W/${TAG}`, SAME),
  asked('If-None-Match', `${OTHER}, W/${TAG}`, SAME),
  asked('If-None-Match', `"a,b" ,,${TAG}`, SAME),
  asked('If-None-Match', '*', SAME),
  asked('If-None-Match', OTHER, FRESH),
  asked('If-None-Match', BROTLI, FRESH),
  asked('If-None-Match', TAG.replaceAll('"', ''), FRESH),
  asked('If-None-Match', '', FRESH),
  asked('If-Match', TAG, FRESH),
  asked('If-Match', `${OTHER}, ${TAG}`, FRESH),
  asked('If-Match', '*', FRESH),
  asked('If-Match', OTHER, NOT_THAT),
  asked('If-Match', `W/${TAG}`, NOT_THAT),
  asked('If-Modified-Since', 'Fri, 01 Jan 2100 00:00:00 GMT', FRESH),
  asked('If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT', FRESH),
  got('If-Match and If-None-Match, both true', '/about', SAME, {
    'If-Match': TAG,
    'If-None-Match': TAG,
  }),
  got('If-Match is judged first', '/about', NOT_THAT, { 'If-Match': OTHER, 'If-None-Match': TAG }),
  got('If-None-Match twice', '/about', SAME, {
    'If-None-Match': OTHER,
    'if-none-match': TAG,
  }),
  got(
    'If-None-Match of the form that is answered',
    '/about',
    { status: 304, headers: { etag: BROTLI, vary: 'Accept-Encoding' } },
    { 'If-None-Match': BROTLI, 'Accept-Encoding': 'br' },
  ),
  got(
    'If-None-Match of another form',
    '/about',
    {
      status: 200,
      headers: { etag: BROTLI, 'content-encoding': 'br' },
      body: ABOUT.encoded.br ?? '',
    },
    { 'If-None-Match': TAG, 'Accept-Encoding': 'br' },
  ),
  got(
    'If-None-Match with the page for what is missing',
    '/missing',
    { status: 404, headers: { etag: null }, body: /lost/ },
    { 'If-None-Match': '*' },
  ),
  {
    name: 'If-None-Match with HEAD',
    send: ask('HEAD', '/about', { Host: 'shop.localhost', 'If-None-Match': TAG }),
    answers: [SAME],
  },
]
