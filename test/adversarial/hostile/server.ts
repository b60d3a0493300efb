import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { createServer } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { createServer as createTlsServer } from 'node:tls'
import type { Certificate } from '../../support/egress.ts'
import type { Answer, Receiver } from '../../support/receiver.ts'
import { answerWith, startReceiver } from '../../support/receiver.ts'

/** The one address that the stand permits. */
export const HOST = '127.0.0.2'

/** A receiver on loopback that means harm, or is broken. */
export interface HostileServer {
  readonly port: number
  /** Given when it is called over TLS: the authority that the stand trusts; empty for none. */
  readonly ca?: string
  /** How many connections were ever accepted. */
  readonly connections: number
  /** The requests it has read whole; undefined where it reads none. */
  readonly requests: Receiver['requests'] | undefined
  close(): Promise<void>
}

/** @param folder a place of the server's own, for its certificate */
export type StartHostile = (folder: string) => Promise<HostileServer>

/** Reads a whole request, then answers. */
export function answering(answer: Answer): StartHostile {
  return () => startReceiver(answer, { host: HOST })
}

/** Answers every request with the same bytes and leaves the connection open. */
export function saying(bytes: string): StartHostile {
  return answering(answerWith(bytes))
}

/** Does with a connection what it likes. */
export function accepting(handle: (socket: Socket) => void): StartHostile {
  return () => listen(createServer(handle))
}

/** Speaks TLS as told, and HTTP with whom it comes to terms. */
export function handshaking(
  certify: (folder: string) => Promise<Certificate>,
  { trusted = true, ...options }: TlsOptions & { readonly trusted?: boolean } = {},
): StartHostile {
  return async (folder) => {
    const { key, cert } = await certify(folder)
    const server = createTlsServer({ key, cert, ...options }, (socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
    })
    return Object.assign(await listen(server), { ca: trusted ? cert : '' })
  }
}

/** Where nothing listens any more. */
export async function closedPort(): Promise<HostileServer> {
  const server = await listen(createServer())
  await server.close()
  return { port: server.port, connections: 0, requests: undefined, close: async () => undefined }
}

export async function listen(server: Server): Promise<HostileServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    requests: undefined,
    get connections() {
      return connections
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
