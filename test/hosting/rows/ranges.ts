import { etagOf } from '../../support/hosted-apps.ts'
import { SHOP } from './apps.ts'
import type { Expected, Row } from './row.ts'
import { ask, got } from './row.ts'

const LETTERS = SHOP['letters.txt']
const TAG = etagOf(LETTERS)
const BIG = SHOP['big.bin']
const ABOUT = SHOP['about.html']
const ALL: Expected = {
  status: 200,
  headers: { 'content-length': '26', 'accept-ranges': 'bytes', 'content-range': null },
  body: LETTERS.body,
}

const part = (range: string, body: string): Expected => ({
  status: 206,
  headers: {
    'content-range': `bytes ${range}/26`,
    'content-length': String(body.length),
    'accept-ranges': 'bytes',
    etag: TAG,
  },
  body,
})

const none = (size: number): Expected => ({
  status: 416,
  headers: { 'content-range': `bytes */${size}`, 'cache-control': 'no-store' },
})

const ranged = (range: string, expected: Expected, more: Readonly<Record<string, string>> = {}) =>
  got(`range: ${[range, ...Object.entries(more).flat()].join(' ')}`, '/letters.txt', expected, {
    Range: range,
    ...more,
  })

const big = (range: string, start: number, end: number): Row =>
  got(
    `range of what is streamed: ${range}`,
    '/big.bin',
    {
      status: 206,
      headers: { 'content-range': `bytes ${start}-${end - 1}/300000` },
      body: BIG.body.subarray(start, end),
    },
    { Range: range },
  )

export const RANGE_ROWS: readonly Row[] = [
  ranged('bytes=0-4', part('0-4', 'abcde')),
  ranged('bytes=0-0', part('0-0', 'a')),
  ranged('bytes=20-', part('20-25', 'uvwxyz')),
  ranged('bytes=-3', part('23-25', 'xyz')),
  ranged('bytes=-99', part('0-25', 'abcdefghijklmnopqrstuvwxyz')),
  ranged('bytes=24-99', part('24-25', 'yz')),
  ranged('BYTES=0-1', part('0-1', 'ab')),
  ranged('bytes=26-', none(26)),
  ranged('bytes=-0', none(26)),
  ranged('bytes=99999999999999999999-', none(26)),
  ranged('bytes=0-1,4-5', ALL),
  ranged('bytes=5-2', ALL),
  ranged('bytes=-', ALL),
  ranged('bytes=a-b', ALL),
  ranged('bytes=0x0-0x4', ALL),
  ranged('bytes 0-4', ALL),
  ranged('lines=0-1', ALL),
  ranged(`bytes=${'0-0,'.repeat(1000)}0-0`, ALL),
  ranged('bytes=0-4', part('0-4', 'abcde'), { 'If-Range': TAG }),
  ranged('bytes=0-4', ALL, { 'If-Range': `W/${TAG}` }),
  ranged('bytes=0-4', ALL, { 'If-Range': '"another"' }),
  ranged('bytes=0-4', ALL, { 'If-Range': 'Fri, 01 Jan 2100 00:00:00 GMT' }),
  ranged('bytes=0-4', { status: 304, headers: { etag: TAG } }, { 'If-None-Match': TAG }),
  ranged('bytes=99-', { status: 412 }, { 'If-Match': '"another"' }),
  got('range: of nothing', '/empty.txt', none(0), { Range: 'bytes=0-' }),
  got(
    'range: of a page that is missing',
    '/missing',
    { status: 404, body: /lost/ },
    {
      Range: 'bytes=0-1',
    },
  ),
  got(
    'range: of the form that is answered',
    '/about',
    {
      status: 206,
      headers: {
        'content-encoding': 'br',
        'content-range': `bytes 1-4/${ABOUT.encoded.br?.length}`,
        etag: etagOf(ABOUT, 'br'),
        vary: 'Accept-Encoding',
      },
      body: ABOUT.encoded.br?.subarray(1, 5) ?? '',
    },
    { Range: 'bytes=1-4', 'Accept-Encoding': 'br' },
  ),
  {
    name: 'range: means nothing to HEAD',
    send: ask('HEAD', '/letters.txt', { Host: 'shop.localhost', Range: 'bytes=0-4' }),
    answers: [
      { status: 200, head: true, headers: { 'content-length': '26', 'accept-ranges': 'bytes' } },
    ],
  },
  big('bytes=0-9', 0, 10),
  big('bytes=65530-65545', 65_530, 65_546),
  big('bytes=-70000', 230_000, 300_000),
  got('all of what is streamed', '/big.bin', { status: 200, body: BIG.body }),
]
