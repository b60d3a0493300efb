import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An address on loopback that nobody is to fetch. */
export interface Untouched {
  readonly url: string
  /** How many connections came. */
  readonly connections: number
}

export async function startUntouched(t: {
  teardown(handler: () => void): void
}): Promise<Untouched> {
  let connections = 0
  const server = createServer((_, response) => response.end('fetched'))
  server.on('connection', () => (connections += 1))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`,
    get connections() {
      return connections
    },
  }
}
