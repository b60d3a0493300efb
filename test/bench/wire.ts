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
  let text = ''
  let answered: ((status: number) => void) | undefined
  let failed: ((cause: Error) => void) | undefined

  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const length = answerLength(text)
    if (length === undefined || text.length < length) return
    const status = Number(text.slice(9, 12))
    text = ''
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

/** Head and body; undefined while the head is not there. Servers of this bench always say the length. */
function answerLength(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const [, length = '0'] = /content-length: (\d+)/i.exec(text.slice(0, head)) ?? []
  return head + 4 + Number(length)
}
