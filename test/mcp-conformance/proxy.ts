import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server in front of the daemon that adds what the suite cannot send: a developer key. */
export interface Proxy {
  readonly port: number
  /** Passes requests on to this port from now on, with this key. */
  serve(port: number, key: string): void
  close(): void
}

/** Listens at once, so that the daemon can be told the address that it is called by. */
export async function startProxy(): Promise<Proxy> {
  let target: { readonly port: number; readonly key: string } | undefined
  const server: Server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    if (target === undefined) {
      outgoing.writeHead(503).end()
      return
    }
    const authorization = `Bearer ${target.key}`
    const passed = request(
      {
        host: '127.0.0.1',
        port: target.port,
        method,
        path: url,
        headers: { ...headers, authorization },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    passed.once('error', () => outgoing.destroy())
    outgoing.once('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    serve(port, key) {
      target = { port, key }
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
