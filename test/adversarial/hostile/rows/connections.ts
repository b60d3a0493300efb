import { dribble, soon, trickling } from '../pouring.ts'
import type { HostileRow } from '../row.ts'
import { answered, lost } from '../row.ts'
import { accepting, answering, closedPort } from '../server.ts'

const HEAD = 'HTTP/1.1 200 OK\r\n'

/** Receivers that play with the connection and with time. */
export const CONNECTION_ROWS: readonly HostileRow[] = [
  {
    case: 'nothing listens',
    start: closedPort,
    recorded: lost('connect'),
    ends: 'itself',
  },
  {
    case: 'never answers',
    start: answering(() => undefined),
    recorded: lost('timeout'),
    ends: 'deadline',
  },
  {
    case: 'accepts and never reads, while the request is larger than what buffers hold',
    start: accepting((socket) => socket.pause()),
    recorded: lost('timeout'),
    ends: 'deadline',
    padding: 8_000_000,
  },
  {
    case: 'accepts and closes',
    start: accepting((socket) => socket.end()),
    recorded: lost('reset'),
    ends: 'itself',
  },
  {
    case: 'accepts and resets',
    start: accepting((socket) => socket.resetAndDestroy()),
    recorded: lost('reset'),
    ends: 'itself',
  },
  {
    case: 'resets after the request',
    start: answering((socket) => socket.resetAndDestroy()),
    recorded: lost('reset'),
    ends: 'itself',
  },
  {
    case: 'closes its half after the request and says nothing',
    start: answering((socket) => socket.end()),
    recorded: lost('reset'),
    ends: 'itself',
  },
  {
    case: 'closes within the status line',
    start: answering((socket) => socket.end('HTTP/1.1 20')),
    recorded: lost('reset'),
    ends: 'itself',
  },
  {
    case: 'closes within the headers',
    start: answering((socket) => socket.end(`${HEAD}content-le`)),
    recorded: lost('reset'),
    ends: 'itself',
  },
  {
    case: 'closes within the body',
    start: answering((socket) => socket.end(`${HEAD}content-length: 10\r\n\r\nabc`)),
    recorded: answered(200),
    ends: 'itself',
  },
  {
    case: 'closes within a body in chunks',
    start: answering((socket) =>
      socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`),
    ),
    recorded: answered(200),
    ends: 'itself',
  },
  {
    case: 'resets within the body',
    start: answering((socket) => {
      socket.write(`${HEAD}content-length: 10\r\n\r\nabc`)
      soon(() => socket.resetAndDestroy())
    }),
    recorded: answered(200),
    ends: 'itself',
  },
  {
    case: 'answers before it has read the body, and resets',
    start: accepting((socket) => {
      socket.once('data', () => {
        socket.pause()
        socket.write('HTTP/1.1 413 Content Too Large\r\ncontent-length: 10\r\n\r\nno')
        soon(() => socket.resetAndDestroy())
      })
    }),
    recorded: answered(413),
    ends: 'itself',
    padding: 8_000_000,
  },
  {
    case: 'answers before it has read the body, and never reads on',
    start: accepting((socket) => {
      socket.once('data', () => {
        socket.pause()
        socket.write(`${HEAD}content-length: 2\r\n\r\nok`)
      })
    }),
    recorded: answered(200),
    ends: 'itself',
    padding: 8_000_000,
  },
  {
    case: 'trickles the status line, a byte at a time',
    start: answering(trickling('', 'HTTP/1.1 200 OK and more to come and so on')),
    recorded: lost('timeout'),
    ends: 'deadline',
  },
  {
    case: 'trickles headers, a byte at a time',
    start: answering(trickling(HEAD, 'x-a: b\r\n')),
    recorded: lost('timeout'),
    ends: 'deadline',
  },
  {
    case: 'trickles the body, a byte at a time',
    start: answering(trickling(`${HEAD}content-length: 100000\r\n\r\n`, 'x')),
    recorded: answered(200),
    ends: 'deadline',
  },
  {
    case: 'trickles chunks of one byte',
    start: answering(trickling(`${HEAD}transfer-encoding: chunked\r\n\r\n`, '1\r\nx\r\n')),
    recorded: answered(200),
    ends: 'deadline',
  },
  {
    case: 'trickles the body of a refusal',
    start: answering(trickling('HTTP/1.1 500 No\r\ncontent-length: 100000\r\n\r\n', 'x')),
    recorded: answered(500),
    ends: 'deadline',
  },
  {
    case: 'trickles before it was asked, and what is no HTTP',
    start: accepting((socket) => dribble(socket, '220 smtp.example.com ESMTP\r\n')),
    recorded: lost('protocol'),
    ends: 'itself',
  },
]
