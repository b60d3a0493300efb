import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { EgressStream, EgressStreamed } from '../../plugins/egress/contract.ts'
import { until } from '../support/daemon.ts'
import { clientFor, failed, HEAD, NAME, OK, receiverAt } from '../support/egress.ts'
import type { Receiver } from '../support/receiver.ts'
import { answerWith } from '../support/receiver.ts'

function streamOf(
  receiver: Pick<Receiver, 'port'>,
  signal: AbortSignal = new AbortController().signal,
) {
  return {
    url: `http://${NAME}:${receiver.port}/v1/chat`,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
    body: new TextEncoder().encode('{"stream":true}'),
    signal,
  } as const
}

/** A receiver that answers when the test says what. */
async function heldReceiver(t: Parameters<typeof receiverAt>[0]) {
  const sockets: Socket[] = []
  const receiver = await receiverAt(t, (socket) => void sockets.push(socket))
  return {
    receiver,
    async asked(): Promise<Socket> {
      await until('it is asked', () => sockets.length > 0)
      return sockets[0] as Socket
    },
  }
}

function opened(result: EgressStreamed): EgressStream {
  if (!result.ok) throw new Error(result.code)
  return result
}

async function textOf({ body }: EgressStream): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

void t.test('an answer is handed on as it arrives', async (t) => {
  const { receiver, asked } = await heldReceiver(t)
  const client = clientFor(t)
  const streaming = client.stream(streamOf(receiver))
  const socket = await asked()
  t.match(receiver.requests[0], { head: /^POST \/v1\/chat /, body: '{"stream":true}' })
  socket.write(`${HEAD}Content-Type: text/event-stream\r\ncontent-length: 10\r\n\r\nfirst`)
  const stream = opened(await streaming)
  t.match(stream, { status: 200, headers: { 'content-type': 'text/event-stream' } })
  const parts = stream.body[Symbol.asyncIterator]()
  const part = async () => String(Buffer.from((await parts.next()).value ?? ''))
  t.equal(await part(), 'first', 'before the rest is sent')
  socket.write('again')
  t.equal(await part(), 'again')
  t.same(await parts.next(), { done: true, value: undefined })
  // A connection is free once the loop has turned, so that a server that closes it is heard first.
  await turn()
  const next = client.stream(streamOf(receiver))
  await until('it is asked again', () => receiver.requests.length === 2)
  socket.write(OK)
  t.equal(await textOf(opened(await next)), 'ok')
  t.equal(receiver.connections, 1, 'the connection serves the next one')
})

void t.test('it is judged as any call is, and follows nothing', async (t) => {
  const receiver = await receiverAt(
    t,
    answerWith(`HTTP/1.1 302 Found\r\nlocation: http://${NAME}/\r\ncontent-length: 0\r\n\r\n`),
  )
  const client = clientFor(t)
  t.match(await client.stream(streamOf(receiver)), { ok: true, status: 302 })
  for (const url of ['http://127.0.0.1:9/', 'http://169.254.169.254/', 'file:///etc/passwd']) {
    t.match(await client.stream({ ...streamOf(receiver), url }), failed('refused_address'), url)
  }
  const headers = { host: 'elsewhere' }
  t.match(await client.stream({ ...streamOf(receiver), headers }), failed('protocol'))
  const elsewhere = clientFor(t, { allow: `${NAME}:${receiver.port + 1}` })
  t.match(await elsewhere.stream(streamOf(receiver)), failed('refused_address'), 'another port')
  t.equal(receiver.requests.length, 1)
})

void t.test('the signal ends it, before the answer and within it', async (t) => {
  const aborted = AbortSignal.abort()
  const { receiver, asked } = await heldReceiver(t)
  const client = clientFor(t)
  t.match(await client.stream(streamOf(receiver, aborted)), failed('aborted'))
  t.equal(receiver.connections, 0)

  const before = new AbortController()
  const waiting = client.stream(streamOf(receiver, before.signal))
  await asked()
  before.abort()
  t.match(await waiting, failed('aborted'))
  await receiver.allClosed()

  const within = new AbortController()
  const patient = await receiverAt(t, answerWith(`${HEAD}content-length: 10\r\n\r\nfirst`))
  const stream = opened(await client.stream(streamOf(patient, within.signal)))
  const reading = textOf(stream)
  within.abort()
  await t.rejects(reading)
  await patient.allClosed()
})

void t.test(
  'nobody is sent more than they read, and whoever stops ends the exchange',
  async (t) => {
    const length = 32 * 1_048_576
    const client = clientFor(t, { maxAnswerBytes: 2 * length })
    const send = async () => {
      const { receiver, asked } = await heldReceiver(t)
      const streaming = client.stream(streamOf(receiver))
      const socket = await asked()
      socket.write(`${HEAD}content-length: ${length}\r\n\r\n`)
      socket.write(Buffer.alloc(length, 'x'))
      return { receiver, socket, stream: opened(await streaming) }
    }
    const slow = await send()
    const quick = await send()
    t.equal((await textOf(quick.stream)).length, length)
    t.ok(slow.socket.writableLength > 0, 'as much was read of the one, and not of the other')
    for await (const part of slow.stream.body) {
      t.ok(part.length > 0)
      break
    }
    await slow.receiver.allClosed()
  },
)

void t.test('an answer that breaks off, or is too long, is no whole one', async (t) => {
  const cut = await receiverAt(t, (socket) => {
    socket.end(`${HEAD}content-length: 10\r\n\r\nfirst`)
  })
  const client = clientFor(t, { maxAnswerBytes: 10_000 })
  await t.rejects(textOf(opened(await client.stream(streamOf(cut)))))
  const endless = await receiverAt(t, (socket) => {
    socket.write(`${HEAD}content-length: 100000\r\n\r\n${'x'.repeat(50_000)}`)
  })
  await t.rejects(textOf(opened(await client.stream(streamOf(endless)))))
  await endless.allClosed()
  const odd = await receiverAt(t, answerWith('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
  t.match(await client.stream(streamOf(odd)), { ok: false })
})

void t.test('closing the client ends what streams, whether it is read or not', async (t) => {
  const receiver = await receiverAt(t, answerWith(`${HEAD}content-length: 10\r\n\r\nfirst`))
  const client = clientFor(t)
  const unread = opened(await client.stream(streamOf(receiver)))
  const reading = textOf(opened(await client.stream(streamOf(receiver))))
  await Promise.all([client.close(), t.rejects(reading)])
  await receiver.allClosed()
  await t.rejects(textOf(unread))
  t.match(await client.stream(streamOf(receiver)), failed('aborted'))
})
