import t from 'tap'
import type { EgressRequest } from '../../plugins/egress/contract.ts'
import { clientFor, failed, HEAD, OK, receiverAt, requestTo, textOf } from '../support/egress.ts'
import { answerWith, type Answer } from '../support/receiver.ts'

interface HostileRow {
  readonly title: string
  readonly answer: Answer
  readonly expected: object
  readonly body?: string
  readonly rest?: Partial<EgressRequest>
}

const every = (socket: Parameters<Answer>[0], bytes: string): void => {
  const timer = setInterval(() => socket.write(bytes), 20)
  socket.once('close', () => clearInterval(timer))
}

const HOSTILE: readonly HostileRow[] = [
  {
    title: 'never answers: timeout',
    answer: () => undefined,
    expected: failed('timeout', 'response_timeout'),
    rest: { timeout: 250 },
  },
  {
    title: 'trickles headers: timeout',
    answer: (socket) => {
      socket.write(HEAD)
      every(socket, 'x-a: b\r\n')
    },
    expected: failed('timeout', 'response_timeout'),
    rest: { timeout: 250 },
  },
  {
    title: 'trickles the body: the status counts',
    answer: (socket) => {
      socket.write(`${HEAD}content-length: 1000\r\n\r\n`)
      every(socket, 'x')
    },
    expected: { ok: true, status: 200, truncated: true },
    rest: { timeout: 2000 },
  },
  {
    title: 'stops within the body: the status counts',
    answer: answerWith('HTTP/1.1 500 No\r\ncontent-length: 10\r\n\r\nabc'),
    expected: { ok: true, status: 500, truncated: true },
    body: 'abc',
    rest: { timeout: 2000 },
  },
  {
    title: 'sends a huge body: cut at the limit',
    answer: (socket) => {
      socket.write(`${HEAD}content-length: 1073741824\r\n\r\n`)
      socket.on('drain', () => socket.write('x'.repeat(65_536)))
      while (socket.write('x'.repeat(65_536)));
    },
    expected: { ok: true, status: 200, truncated: true },
    body: 'x'.repeat(4096),
  },
  {
    title: 'sends one byte more than the limit: cut',
    answer: answerWith(`${HEAD}content-length: 5\r\n\r\nabcde`),
    expected: { ok: true, truncated: true },
    body: 'abcd',
    rest: { maxResponseBytes: 4 },
  },
  {
    title: 'sends exactly the limit: whole',
    answer: answerWith(`${HEAD}content-length: 4\r\n\r\nabcd`),
    expected: { ok: true, truncated: false },
    body: 'abcd',
    rest: { maxResponseBytes: 4 },
  },
  {
    title: 'sends 40 KB of headers: protocol',
    answer: answerWith(`${HEAD}x-large: ${'a'.repeat(40_960)}\r\n\r\n`),
    expected: failed('protocol'),
  },
  {
    title: 'answers 101: protocol',
    answer: answerWith(
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
    ),
    expected: failed('protocol'),
  },
  {
    title: 'answers 101 without the upgrade headers: protocol',
    answer: answerWith('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    expected: failed('protocol'),
  },
  {
    title: 'floods with 103: protocol',
    answer: (socket) => every(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
    expected: failed('protocol'),
  },
  {
    title: 'sends five 103 before its answer: accepted',
    answer: answerWith(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5)}${OK}`),
    expected: { ok: true, status: 200, truncated: false },
    body: 'ok',
  },
  {
    title: 'sends six: protocol',
    answer: answerWith(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(6)}${OK}`),
    expected: failed('protocol'),
  },
  {
    title: 'answers with status 999: protocol',
    answer: answerWith('HTTP/1.1 999 Beyond\r\ncontent-length: 0\r\n\r\n'),
    expected: failed('protocol'),
  },
  {
    title: 'does not speak HTTP: protocol',
    answer: answerWith('220 smtp.example.com ESMTP\r\n'),
    expected: failed('protocol'),
  },
  {
    title: 'sends both a length and chunks: protocol',
    answer: answerWith(`${HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    expected: failed('protocol'),
  },
  {
    title: 'sends a body with 204: the status counts',
    answer: answerWith('HTTP/1.1 204 No Content\r\n\r\nbut a body'),
    expected: { ok: true, status: 204 },
    body: '',
  },
  {
    title: 'closes within the body: the status counts',
    answer: (socket) => socket.end(`${HEAD}content-length: 10\r\n\r\nabc`),
    expected: { ok: true, status: 200, truncated: true },
    body: 'abc',
  },
  {
    title: 'resets within the body: the status counts',
    answer: (socket) => {
      socket.write(`${HEAD}content-length: 10\r\n\r\nabc`, () => {
        setImmediate(() => socket.resetAndDestroy())
      })
    },
    expected: { ok: true, status: 200, truncated: true },
  },
  {
    title: 'ends a body without a length by closing: whole',
    answer: (socket) => socket.end(`${HEAD}\r\nabc`),
    expected: { ok: true, status: 200, truncated: false },
    body: 'abc',
  },
  {
    title: 'closes without an answer: reset',
    answer: (socket) => socket.end(),
    expected: failed('reset'),
  },
  {
    title: 'resets without an answer: reset',
    answer: (socket) => socket.resetAndDestroy(),
    expected: failed('reset'),
  },
  {
    title: 'asks to wait: the raw header is given',
    answer: answerWith('HTTP/1.1 503 Busy\r\nRETRY-After: 120\r\ncontent-length: 0\r\n\r\n'),
    expected: { ok: true, status: 503, retryAfter: '120' },
  },
  {
    title: 'asks to wait in a long header: cut',
    answer: answerWith(`HTTP/1.1 429 No\r\nretry-after: ${'9'.repeat(500)}\r\n\r\n`),
    expected: { ok: true, status: 429, retryAfter: '9'.repeat(128) },
    rest: { timeout: 2000 },
  },
  {
    title: 'sends compressed bytes: given as they are',
    answer: answerWith(`${HEAD}content-encoding: gzip\r\ncontent-length: 4\r\n\r\nbomb`),
    expected: { ok: true, truncated: false },
    body: 'bomb',
  },
]

void t.test('a receiver that', (t) => {
  for (const { title, answer, expected, body, rest } of HOSTILE) {
    void t.test(title, async (t) => {
      const receiver = await receiverAt(t, answer)
      const client = clientFor(t)
      const result = await client.send(requestTo(receiver, rest))
      t.match(result, expected)
      if (body !== undefined) t.equal(textOf(result), body)
      t.ok(result.durationMs >= 0 && result.durationMs < 5000)
      t.equal(receiver.requests.length, 1, 'sent once')
      await client.close()
      await receiver.allClosed()
    })
  }
  t.end()
})

void t.test(
  'an answer that came in time counts, though the process was busy at the deadline',
  async (t) => {
    const receiver = await receiverAt(t, (socket) => {
      socket.write(OK)
      const end = performance.now() + 2300
      while (performance.now() < end);
    })
    const client = clientFor(t)
    t.match(await client.send(requestTo(receiver, { timeout: 2000 })), { ok: true, status: 200 })
  },
)

void t.test('a hostile exchange harms no later one', async (t) => {
  let answered = 0
  const receiver = await receiverAt(t, (socket) => {
    answered += 1
    const bad = [
      `${HEAD}content-length: 99\r\n\r\nabc`,
      'HTTP/1.1 204 No Content\r\n\r\njunk',
      'x\r\n',
    ]
    socket.write(bad[answered % 4] ?? OK)
  })
  const client = clientFor(t, { maxSocketsPerOrigin: 1 })
  for (let round = 0; round < 3; round += 1) {
    const statuses: (number | string)[] = []
    for (let count = 0; count < 4; count += 1) {
      const result = await client.send(requestTo(receiver, { timeout: 1000 }))
      statuses.push(result.ok ? result.status : result.code)
    }
    t.strictSame(statuses, [204, 'protocol', 200, 200])
  }
})
