import type { Encoding } from '../../../plugins/deploy/manifest.ts'
import { etagOf } from '../../support/hosted-apps.ts'
import { SHOP } from './apps.ts'
import type { Expected, Row } from './row.ts'
import { got } from './row.ts'

const ABOUT = SHOP['about.html']

const inForm = (encoding: Encoding): Expected => ({
  status: 200,
  headers: {
    'content-encoding': encoding,
    'content-length': String(ABOUT.encoded[encoding]?.length),
    'content-type': ABOUT.type,
    etag: etagOf(ABOUT, encoding),
    vary: 'Accept-Encoding',
  },
  body: ABOUT.encoded[encoding] ?? '',
})

const BROTLI = inForm('br')
const GZIP = inForm('gzip')
const AS_IT_IS: Expected = {
  status: 200,
  headers: { 'content-encoding': null, etag: etagOf(ABOUT), vary: 'Accept-Encoding' },
  body: ABOUT.body,
}
const NONE: Expected = {
  status: 406,
  headers: { vary: 'Accept-Encoding', 'cache-control': 'no-store', etag: null },
}

const accepting = (accepted: string, expected: Expected): Row =>
  got(`Accept-Encoding: ${accepted}`, '/about', expected, { 'Accept-Encoding': accepted })

export const ENCODING_ROWS: readonly Row[] = [
  got('no Accept-Encoding', '/about', AS_IT_IS),
  accepting('', AS_IT_IS),
  accepting('gzip', GZIP),
  accepting('br', BROTLI),
  accepting('gzip, deflate, br, zstd', BROTLI),
  accepting('gzip;q=1.0, br;q=0.5', GZIP),
  accepting('gzip;q=0.5,br;q=0.5', BROTLI),
  accepting('gzip;q=0.001', GZIP),
  accepting('GZip', GZIP),
  accepting('x-gzip', GZIP),
  accepting('br ; Q=0.2 , gzip ; q=0.3', GZIP),
  accepting('br;q=0, gzip;q=0', AS_IT_IS),
  accepting('br;q=0', AS_IT_IS),
  accepting('zstd', AS_IT_IS),
  accepting('*', BROTLI),
  accepting('*, br;q=0', GZIP),
  accepting('gzip;q=0.2, *;q=0.5', BROTLI),
  accepting('identity', AS_IT_IS),
  accepting('identity;q=1, gzip;q=0.5', AS_IT_IS),
  accepting('identity;q=0', NONE),
  accepting('*;q=0', NONE),
  accepting('identity;q=0, gzip', GZIP),
  accepting('*;q=0, gzip', GZIP),
  accepting('*;q=0, identity', AS_IT_IS),
  accepting('br;q=2, gzip', GZIP),
  accepting('br;q=-1, gzip', GZIP),
  accepting('"br"', AS_IT_IS),
  accepting(`${'gzip,'.repeat(2000)}br`, BROTLI),
  got(
    'a file that has one form alone does not vary',
    '/logo.png',
    { status: 200, headers: { vary: null, 'content-encoding': null }, body: SHOP['logo.png'].body },
    { 'Accept-Encoding': 'gzip, br' },
  ),
  got(
    'nor is it answered in none',
    '/logo.png',
    { status: 406 },
    {
      'Accept-Encoding': 'identity;q=0',
    },
  ),
]
