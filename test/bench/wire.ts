import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

/**
 * One kept-alive connection that costs the generator little: bytes out, a status in. A client with more to
 * it would take from the server the core they share, and make both sides of a ratio look alike.
 */
export interface Wire {
  /** Resolves with the status once the whole answer is there. One at a time. */
  send(request: Buffer): Promise<number>
  close(): void
}

export async function openWire(origin: string): Promise<Wire> {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  return wireOn(socket)
}

function wireOn(socket: Socket): Wire {
  let head = ''
  let status = 0
  /** Of the body that is coming; -1 while the head is. */
  let left = -1
  let answered: ((status: number) => void) | undefined
  let failed: ((cause: Error) => void) | undefined

  socket.on('data', (chunk: Buffer) => {
    if (left >= 0) {
      left -= chunk.length
    } else {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      status = Number(head.slice(9, 12))
      left = bodyLength(head.slice(0, end)) - (head.length - end - 4)
    }
    if (left > 0) return
    head = ''
    left = -1
    answered?.(status)
  })
  socket.on('error', (cause) => failed?.(cause))
  socket.on('close', () => failed?.(new Error('the server closed the connection')))

  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        answered = resolve
        failed = reject
        socket.write(request)
      }),
    close() {
      socket.destroy()
    },
  }
}

/** Servers of this bench always say the length. */
function bodyLength(head: string): number {
  const [, length = '0'] = /content-length: (\d+)/i.exec(head) ?? []
  return Number(length)
}
