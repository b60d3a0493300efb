import { CANARY, SHOP } from './apps.ts'
import type { Expected, Row } from './row.ts'
import { NO_REQUEST, SHOP_HOST, ask, get } from './row.ts'

const SHOWN: Expected = { status: 200, body: CANARY }
const HOST = { Host: SHOP_HOST }
const NOT_READ: Expected = { status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } }

/** What a smuggler hides: it must never be answered. */
const HIDDEN = get('/letters.txt')

const method = (name: string, expected: Expected): Row => ({
  name: `method: ${name}`,
  send: ask(name, '/canary.txt', HOST),
  answers: [expected],
})

/** The method that some server would take for the real one. */
const overridden = (name: string): Row => ({
  name: `method: another in ${name}`,
  send: ask('GET', '/canary.txt', { ...HOST, [name]: 'DELETE' }),
  answers: [SHOWN],
})

const noRequest = (name: string, send: string): Row => ({ name, send, ...NO_REQUEST })

/** One answer, and then nothing: what follows the body is not read. */
const once = (name: string, send: string, answer: Expected): Row => ({
  name,
  send,
  answers: [{ ...answer, headers: { ...answer.headers, connection: 'close' } }],
  closes: true,
})

export const FRAMING_ROWS: readonly Row[] = [
  method('HEAD', {
    status: 200,
    head: true,
    headers: {
      'content-length': String(CANARY.length),
      'content-type': SHOP['canary.txt'].type,
      etag: /^"[0-9a-f]{64}"$/,
      'accept-ranges': 'bytes',
    },
  }),
  method('OPTIONS', {
    status: 204,
    headers: { allow: 'GET, HEAD, OPTIONS', 'access-control-allow-origin': null },
  }),
  ...['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'].map((name) => method(name, NOT_READ)),
  {
    name: 'method: OPTIONS of all',
    send: ask('OPTIONS', '*', HOST),
    answers: [{ status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } }],
  },
  {
    name: 'method: a preflight is granted nothing',
    send: ask('OPTIONS', '/canary.txt', {
      ...HOST,
      Origin: 'https://evil.example',
      'Access-Control-Request-Method': 'GET',
    }),
    answers: [{ status: 204, headers: { 'access-control-allow-origin': null } }],
  },
  {
    name: 'method: POST to nobody',
    send: ask('POST', '/', { Host: 'nobody.localhost' }),
    answers: [{ status: 404 }],
  },
  overridden('X-HTTP-Method-Override'),
  overridden('X-HTTP-Method'),
  overridden('X-Method-Override'),
  {
    name: 'method: CONNECT',
    send: ask('CONNECT', 'shop.localhost:8421', HOST),
    answers: [],
    closes: true,
  },
  noRequest('method: in small letters', ask('get', '/canary.txt', HOST)),
  noRequest('method: unknown', ask('BREW', '/canary.txt', HOST)),
  noRequest('line: HTTP/0.9', 'GET /canary.txt\r\n\r\n'),
  noRequest('line: HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  noRequest('line: a target without a slash', ask('GET', 'canary.txt', HOST)),
  noRequest('line: a space in the target', ask('GET', '/canary.txt /about', HOST)),
  noRequest('header: a space before the colon', `GET / HTTP/1.1\r\nHost : ${SHOP_HOST}\r\n\r\n`),
  noRequest('header: folded', `GET / HTTP/1.1\r\nHost: ${SHOP_HOST}\r\n folded\r\n\r\n`),
  noRequest('header: with NUL', `GET / HTTP/1.1\r\nHost: ${SHOP_HOST}\r\nX: a\0b\r\n\r\n`),
  {
    name: 'pipelined: each in its turn',
    send: get('/big.bin') + get('/canary.txt') + get('/missing') + get('/canary.txt'),
    answers: [
      { status: 200, body: SHOP['big.bin'].body },
      SHOWN,
      { status: 404, body: /lost/ },
      SHOWN,
    ],
  },
  {
    name: 'pipelined: HEAD among others',
    send: get('/canary.txt') + ask('HEAD', '/canary.txt', HOST) + get('/canary.txt'),
    answers: [SHOWN, { status: 200, head: true }, SHOWN],
  },
  {
    name: 'HTTP/1.0 goes on when it is asked to',
    send: `GET /canary.txt HTTP/1.0\r\nHost: ${SHOP_HOST}\r\nConnection: keep-alive\r\n\r\n`,
    answers: [SHOWN],
  },
  once(
    'HTTP/1.0 ends with its answer',
    `GET /canary.txt HTTP/1.0\r\nHost: ${SHOP_HOST}\r\n\r\n`,
    SHOWN,
  ),
  {
    name: 'an upgrade is not taken up',
    send: get('/canary.txt', { Connection: 'Upgrade', Upgrade: 'h2c, websocket' }),
    answers: [SHOWN],
  },
  noRequest(
    'smuggled: Content-Length and Transfer-Encoding',
    ask('POST', '/', { ...HOST, 'Content-Length': '5', 'Transfer-Encoding': 'chunked' }) +
      `0\r\n\r\n${HIDDEN}`,
  ),
  noRequest(
    'smuggled: Transfer-Encoding and Content-Length, GET',
    get('/canary.txt', { 'Transfer-Encoding': 'chunked', 'Content-Length': '5' }) +
      `0\r\n\r\n${HIDDEN}`,
  ),
  noRequest(
    'smuggled: two lengths',
    `POST / HTTP/1.1\r\nHost: ${SHOP_HOST}\r\nContent-Length: 0\r\ncontent-length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  ),
  noRequest(
    'smuggled: a length that is none',
    ask('POST', '/', { ...HOST, 'Content-Length': '+3' }) + HIDDEN,
  ),
  noRequest(
    'smuggled: two lengths in one',
    ask('POST', '/', { ...HOST, 'Content-Length': '0, 3' }) + HIDDEN,
  ),
  noRequest(
    'smuggled: a coding that does not end with chunked',
    ask('POST', '/', { ...HOST, 'Transfer-Encoding': 'chunked, identity' }) + HIDDEN,
  ),
  once(
    'smuggled: a coding with a tab',
    ask('POST', '/', { ...HOST, 'Transfer-Encoding': '\tx\tchunked' }) + HIDDEN,
    NOT_READ,
  ),
  once(
    'smuggled: in the body of a GET',
    get('/canary.txt', { 'Content-Length': String(HIDDEN.length) }) + HIDDEN,
    SHOWN,
  ),
  once(
    'smuggled: behind the chunks of a GET',
    get('/canary.txt', { 'Transfer-Encoding': 'chunked' }) + `0\r\n\r\n${HIDDEN}`,
    SHOWN,
  ),
  once(
    'smuggled: in a body that is not read',
    ask('POST', '/', { ...HOST, 'Content-Length': String(HIDDEN.length) }) + HIDDEN,
    NOT_READ,
  ),
]
