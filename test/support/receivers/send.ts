import { request } from 'node:http'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { once } from 'node:events'

/** A list is a header that is sent more than once. */
export type SentHeaders = Readonly<Record<string, string | readonly string[]>>

/** Posts a delivery on a connection of its own; `closed` when the receiver hung up instead of answering. */
export function send(
  port: number,
  body: Uint8Array | string,
  headers: SentHeaders = {},
): Promise<number | 'closed'> {
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, one] as const),
  )
  const bytes = Buffer.from(body)
  const fields = [
    ['Host', `127.0.0.1:${port}`],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(bytes.length)],
    ['Connection', 'close'],
    ...sent,
  ].flat()
  return new Promise((resolve) => {
    const sending = request(
      { host: '127.0.0.1', port, path: '/in', method: 'POST', headers: fields, agent: false },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 'closed')
      },
    )
    sending.once('error', () => {
      resolve('closed')
    })
    sending.end(bytes)
  })
}

/** Connections whose requests never end. */
export interface HalfSent {
  /** Resolves once the receiver has ended each of those that were opened first. */
  readonly ended: Promise<unknown>
  close(): void
}

const HEADERS = 'POST /in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n'
const HALVES = [HEADERS, `${HEADERS}Content-Length: 1000\r\n\r\n{"id":`]
const AGAIN_MS = 100

/** Keeps `count` requests half sent, one half of them within their headers, the other within their bodies. */
export async function openHalfSent(port: number, count: number): Promise<HalfSent> {
  const sockets = new Set<Socket>()
  let isClosed = false
  const open = (half: string): Socket => {
    const socket = connect(port, '127.0.0.1')
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.resume()
    socket.write(half)
    socket.once('close', () => {
      sockets.delete(socket)
      // Another takes its place, so that as many are open at any time.
      if (!isClosed) setTimeout(() => isClosed || open(half), AGAIN_MS).unref()
    })
    return socket
  }
  const first = Array.from({ length: count }, (_, index) => open(HALVES[index % 2] ?? ''))
  const ended = Promise.all(first.map((socket) => once(socket, 'close')))
  await Promise.all(first.map((socket) => once(socket, 'connect')))
  return {
    ended,
    close() {
      isClosed = true
      for (const socket of sockets) socket.destroy()
    },
  }
}
