import { once } from 'node:events'
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'

export interface ReceivedRequest {
  /** Request line and headers, as they came. */
  readonly head: string
  readonly body: string
  /** Which connection it came on, from 1. */
  readonly connection: number
}

/** Answers one whole request in raw bytes, well or badly. */
export type Answer = (socket: Socket, request: ReceivedRequest) => void

export interface ReceiverOptions {
  readonly host?: string
  readonly port?: number
  readonly tls?: { readonly key: string; readonly cert: string }
}

/** A raw HTTP receiver on loopback that says exactly what its answer writes. */
export interface Receiver {
  readonly host: string
  readonly port: number
  /** How many connections were ever accepted. */
  readonly connections: number
  /** How many connections are open now. */
  readonly open: number
  /** How many bytes came in, whatever they were. */
  readonly bytes: number
  readonly requests: readonly ReceivedRequest[]
  /** The names that TLS clients asked for. */
  readonly serverNames: readonly (string | false)[]
  /** Resolves once no connection is open. */
  allClosed(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a receiver.
 *
 * @example
 * const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
 */
export async function startReceiver(
  answer: Answer,
  options: ReceiverOptions = {},
): Promise<Receiver> {
  const receiver = new RawReceiver(answer, options)
  await receiver.listen(options)
  return receiver
}

/** Writes the same bytes for every request and leaves the connection open. */
export function answerWith(bytes: string): Answer {
  return (socket) => socket.write(bytes)
}

class RawReceiver implements Receiver {
  readonly #answer: Answer
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly requests: ReceivedRequest[] = []
  readonly serverNames: (string | false)[] = []
  connections = 0
  bytes = 0

  constructor(answer: Answer, { tls }: ReceiverOptions) {
    this.#answer = answer
    this.#server = tls ? createTlsServer(tls) : createTcpServer()
    this.#server.on('connection', (socket: Socket) => {
      this.connections += 1
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        this.#server.emit('left')
      })
      if (!tls) this.#read(socket)
    })
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      this.serverNames.push(socket.servername ?? false)
      socket.on('error', () => undefined)
      this.#read(socket)
    })
  }

  get host(): string {
    return this.#address.address
  }

  get port(): number {
    return this.#address.port
  }

  get open(): number {
    return this.#sockets.size
  }

  async listen({ host = '127.0.0.1', port = 0 }: ReceiverOptions): Promise<void> {
    this.#server.listen(port, host)
    await once(this.#server, 'listening')
  }

  async allClosed(): Promise<void> {
    while (this.#sockets.size > 0) await once(this.#server, 'left')
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  get #address(): AddressInfo {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new TypeError('not listening')
    return address
  }

  #read(socket: Socket): void {
    const connection = this.connections
    let text = ''
    socket.on('data', (chunk) => {
      this.bytes += chunk.length
      text += chunk.toString('latin1')
      for (let request = take(text); request; request = take(text)) {
        text = text.slice(request.head.length + 4 + request.body.length)
        const received = { ...request, connection }
        this.requests.push(received)
        this.#answer(socket, received)
      }
    })
  }
}

function take(text: string): { readonly head: string; readonly body: string } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const body = text.slice(end + 4, end + 4 + length)
  return body.length === length ? { head, body } : undefined
}
