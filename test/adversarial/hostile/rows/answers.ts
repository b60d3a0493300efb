import { gzipSync } from 'node:zlib'
import { pouring, soon } from '../pouring.ts'
import type { HostileRow } from '../row.ts'
import { answered, lost } from '../row.ts'
import { answering, saying } from '../server.ts'

const HEAD = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`
const EMPTY = 'content-length: 0\r\n\r\n'
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
const BOMB = gzipSync(Buffer.alloc(10_000_000)).toString('latin1')

const refused = (title: string, bytes: string): HostileRow => ({
  case: title,
  start: saying(bytes),
  recorded: lost('protocol'),
  ends: 'itself',
})

const counted = (status: number, title: string, bytes: string): HostileRow => ({
  case: title,
  start: saying(bytes),
  recorded: answered(status),
  ends: 'itself',
})

const poured = (title: string, recorded: HostileRow['recorded'], ...what: [string, string]) => ({
  case: `pours ${title} without end`,
  start: answering(pouring(...what)),
  recorded,
  ends: 'itself' as const,
})

/** Answers that break HTTP/1.1, lie, or never end. */
export const ANSWER_ROWS: readonly HostileRow[] = [
  refused('speaks HTTP/0.9', 'ok\r\n'),
  refused('speaks HTTP/2', '\u0000\u0000\u0012\u0004\u0000\u0000\u0000\u0000\u0000'),
  refused('speaks TLS to whom calls in the clear', '\u0015\u0003\u0001\u0000\u0002\u0002\u0046'),
  refused('answers with status 999', `HTTP/1.1 999 Beyond\r\n${EMPTY}`),
  refused('answers with status 600', `HTTP/1.1 600 Beyond\r\n${EMPTY}`),
  refused('answers with status 000', `HTTP/1.1 000 Nothing\r\n${EMPTY}`),
  refused('answers with status 2000', `HTTP/1.1 2000 OK\r\n${EMPTY}`),
  refused('answers 100, which nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'),
  refused(
    'answers 101',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
  ),
  refused('answers 101 without a word of what to', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'),
  refused('has a header of 40 KB', `${HEAD}x-large: ${'a'.repeat(40_960)}\r\n\r\n`),
  refused('has 16,000 empty headers', `${HEAD}${'a:\r\n'.repeat(16_000)}${EMPTY}`),
  refused('has a NUL in a header', `${HEAD}x-a: b\u0000c\r\n${EMPTY}`),
  refused('has a header without a colon', `${HEAD}x-a\r\n${EMPTY}`),
  refused('gives two lengths', `${HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\nabc`),
  refused('gives a negative length', `${HEAD}content-length: -1\r\n\r\nabc`),
  refused('gives a length beyond 64 bits', `${HEAD}content-length: ${'9'.repeat(30)}\r\n\r\nabc`),
  refused(
    'gives both a length and chunks',
    `${HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  ),
  poured('103', lost('protocol'), '', EARLY_HINTS),
  poured('a reason phrase', lost('protocol'), 'HTTP/1.1 200 ', 'A'),
  poured('spaces after the status', lost('protocol'), 'HTTP/1.1 200', ' '),
  poured('blank lines before the status', lost('protocol'), '', '\r\n'),
  poured('headers', lost('protocol'), HEAD, 'x-a: b\r\n'),
  poured('empty headers', lost('protocol'), HEAD, 'a:\r\n'),
  poured('one header', lost('protocol'), `${HEAD}x-a: `, 'a'),
  poured('spaces before a value', lost('protocol'), `${HEAD}x-a:`, ' '),
  poured('a chunk extension', answered(200), `${CHUNKED}5;`, 'a'),
  poured('zeros of a chunk size', answered(200), CHUNKED, '0'),
  poured('trailers', answered(200), `${CHUNKED}0\r\n`, 'a:\r\n'),
  poured('a body of 1 GiB', answered(200), `${HEAD}content-length: 1073741824\r\n\r\n`, 'x'),
  poured('a body in chunks of one byte', answered(200), CHUNKED, '1\r\nx\r\n'),
  poured('the body of a refusal', answered(503), 'HTTP/1.1 503 Busy\r\n\r\n', 'x'),
  counted(204, 'has a body with 204', 'HTTP/1.1 204 No Content\r\n\r\nbut a body'),
  counted(204, 'has a length with 204', 'HTTP/1.1 204 No Content\r\ncontent-length: 9\r\n\r\n'),
  counted(200, 'has a chunk size that is no number', `${CHUNKED}2\r\nab\r\nxyz\r\n`),
  counted(200, 'has a chunk size beyond 64 bits', `${CHUNKED}${'F'.repeat(17)}\r\nab\r\n`),
  counted(200, 'has a chunk that is longer than its size', `${CHUNKED}2\r\nabcd\r\n0\r\n\r\n`),
  counted(200, 'sends more than its length', `${HEAD}content-length: 2\r\n\r\nabcd`),
  refused('breaks lines by LF alone', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok'),
  counted(200, 'speaks HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'),
  counted(200, 'sends bytes that are no text', `${HEAD}content-length: 3\r\n\r\na\u0000\u00ff`),
  counted(304, 'answers 304', 'HTTP/1.1 304 Not Modified\r\n\r\n'),
  counted(302, 'leads elsewhere', `HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n${EMPTY}`),
  counted(200, 'sends five 103 first', `${EARLY_HINTS.repeat(5)}${HEAD}content-length: 0\r\n\r\n`),
  refused('sends six 103 first', `${EARLY_HINTS.repeat(6)}${HEAD}content-length: 0\r\n\r\n`),
  {
    case: 'sends a bomb of gzip, which stays packed',
    start: answering((socket) => {
      socket.write(`${HEAD}content-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`)
      socket.write(BOMB, 'latin1')
    }),
    recorded: answered(200),
    ends: 'itself',
  },
  {
    case: 'asks for an idle connection for a thousand years, and drops it',
    start: answering((socket) => {
      socket.write(`${HEAD}keep-alive: timeout=31536000000\r\n${EMPTY}`)
      soon(() => socket.destroy())
    }),
    recorded: answered(200),
    ends: 'itself',
  },
]
