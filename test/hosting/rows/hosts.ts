import { CANARY } from './apps.ts'
import type { Expected, Row } from './row.ts'
import { MALFORMED, NOBODY, NO_REQUEST, ask, get, got } from './row.ts'

const SHOWN: Expected = { status: 200, body: CANARY }

const hosted = (name: string, host: string, expected: Expected): Row => ({
  name: `host: ${name}`,
  send: ask('GET', '/canary.txt', { Host: host }),
  answers: [expected],
})

const refused = (name: string, host: string): Row => ({
  name: `host: ${name}`,
  send: ask('GET', '/canary.txt', { Host: host }),
  ...MALFORMED,
})

const offline = (host: string, status: number, body: RegExp): Row => ({
  name: `host: ${host} is offline`,
  send: ask('GET', '/any/path', { Host: host }),
  answers: [{ status, headers: { 'cache-control': 'no-store', etag: null }, body }],
})

/** A header that some server would believe, with a host that it must not lead to. */
const believed = (name: string, value: string): Row =>
  got(`host: ${name} is not believed`, '/canary.txt', SHOWN, { [name]: value })

const absolute = (name: string, target: string, host: string, expected: Expected): Row => ({
  name: `absolute target: ${name}`,
  send: ask('GET', target, { Host: host }),
  answers: [expected],
})

export const HOST_ROWS: readonly Row[] = [
  hosted('as it is', 'shop.localhost', SHOWN),
  hosted('in capitals', 'SHOP.LocalHost', SHOWN),
  hosted('with a final dot', 'shop.localhost.', SHOWN),
  hosted('with a port', 'shop.localhost:8421', SHOWN),
  hosted('with a port, as a proxy sees it', 'shop.localhost.:443', SHOWN),
  hosted('with an empty port', 'shop.localhost:', SHOWN),
  hosted('unknown', 'nobody.localhost', NOBODY),
  hosted('below one that is known', 'a.shop.localhost', NOBODY),
  hosted('the domain itself', 'localhost:8421', NOBODY),
  hosted('an IPv4 address', '127.0.0.1:8421', NOBODY),
  hosted('an IPv6 address', '[::1]:8421', NOBODY),
  hosted('one that begins as a known one', 'shop.localhost.evil.example', NOBODY),
  refused('half an IPv6 address', '[::1'),
  refused('an IPv6 address that is none', '[shop.localhost]'),
  refused('a name before @', 'shop.localhost@evil.example'),
  refused('a name after @', 'evil.example@shop.localhost'),
  refused('a port that is too high', 'shop.localhost:99999'),
  refused('a port that is none', 'shop.localhost:8x'),
  refused('two ports', 'shop.localhost:1:2'),
  refused('empty', ''),
  refused('two final dots', 'shop.localhost..'),
  refused('an empty label', 'shop..localhost'),
  refused('not ASCII', 'sh\u00f6p.localhost'),
  refused('two, with a comma', 'shop.localhost, bare.localhost'),
  refused('with a path', 'shop.localhost/canary.txt'),
  refused('with an underscore', 'shop_.localhost'),
  refused('percent-encoded', '%73hop.localhost'),
  refused('a label of 64', `${'a'.repeat(64)}.localhost`),
  {
    name: 'host: none',
    send: 'GET /canary.txt HTTP/1.1\r\n\r\n',
    ...NO_REQUEST,
  },
  {
    name: 'host: none, in HTTP/1.0',
    send: 'GET /canary.txt HTTP/1.0\r\n\r\n',
    ...MALFORMED,
  },
  {
    name: 'host: two that differ',
    send: 'GET /canary.txt HTTP/1.1\r\nHost: shop.localhost\r\nHost: bare.localhost\r\n\r\n',
    ...MALFORMED,
  },
  {
    name: 'host: the same twice',
    send: 'GET /canary.txt HTTP/1.1\r\nHost: shop.localhost\r\nhOST: shop.localhost\r\n\r\n',
    ...MALFORMED,
  },
  offline('off.localhost', 404, /not published/i),
  offline('gone.localhost', 410, /taken down/),
  offline('held.localhost', 404, /not available/i),
  believed('X-Forwarded-Host', 'bare.localhost'),
  believed('X-Host', 'bare.localhost'),
  believed('X-Original-Host', 'bare.localhost'),
  believed('Forwarded', 'host=bare.localhost;proto=https'),
  believed('X-Forwarded-Server', 'bare.localhost'),
  absolute('names the host itself', 'http://shop.localhost/canary.txt', 'shop.localhost', SHOWN),
  absolute('another host than Host', 'http://shop.localhost/canary.txt', 'bare.localhost', SHOWN),
  absolute('an unknown host', 'http://nobody.localhost/canary.txt', 'shop.localhost', NOBODY),
  absolute('https', 'HTTPS://Shop.localhost:443/canary.txt', 'shop.localhost', SHOWN),
  absolute('without a path', 'http://shop.localhost', 'shop.localhost', {
    status: 200,
    body: /shop/,
  }),
  absolute('with a query alone', 'http://shop.localhost?a=b', 'shop.localhost', {
    status: 200,
    body: /shop/,
  }),
  {
    name: 'absolute target: with credentials',
    send: ask('GET', 'http://shop.localhost@evil.example/', { Host: 'shop.localhost' }),
    ...MALFORMED,
  },
  {
    name: 'absolute target: of another scheme',
    send: ask('GET', 'ftp://shop.localhost/canary.txt', { Host: 'shop.localhost' }),
    ...MALFORMED,
  },
  {
    name: 'absolute target: sound, but Host is not',
    send: ask('GET', 'http://shop.localhost/canary.txt', { Host: 'a@b' }),
    ...MALFORMED,
  },
  {
    name: 'pipelined: each host is its own',
    send:
      get('/canary.txt') + ask('GET', '/canary.txt', { Host: 'nobody.localhost' }) + get('/about'),
    answers: [SHOWN, NOBODY, { status: 200, body: /about/ }],
  },
]
