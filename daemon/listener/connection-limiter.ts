import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Cidr } from '../../lib/egress/address.ts'
import { clientAddress, isTrusted, plainAddress } from '../http/client-address.ts'
import { createFairPool } from '../limits/fair-pool.ts'
import { LinkedList } from '../limits/linked-list.ts'
import { onResponseEnd } from '../http/response-end.ts'
import { networkOf } from '../limits/network.ts'
import type { ConnectionLimits } from './networks.ts'
import { createNetworks } from './networks.ts'
import type { Refused } from './refusals.ts'

export type ClientSocket = IncomingMessage['socket']

export interface ConnectionLimiterOptions extends ConnectionLimits {
  readonly trustedProxies: readonly Cidr[]
  readonly refused: Refused
}

/** Limits the connections of one listener and shares them fairly between networks. */
export interface ConnectionLimiter {
  /** False for a refused connection, which is closed. */
  admitConnection(socket: ClientSocket): boolean
  /** False for a refused request: one that a trusted proxy forwards for a network over its limit. */
  admitRequest(request: IncomingMessage, response: ServerResponse): boolean
  /** Ends every connection with its next response, which says `Connection: close`. */
  announceClose(): void
}

interface Connection {
  readonly socket: ClientSocket
  readonly network: string
  readonly isProxy: boolean
  /** Responses in progress. */
  readonly responses: LinkedList<ServerResponse>
}

/**
 * A connection is idle while it has no request in progress; an incomplete head does not count, so
 * connections that send half a request are closed first.
 *
 * Clients behind a trusted proxy share its connections. Each such connection counts as a network of its
 * own, and requests in progress count for the network of their client instead.
 */
export function createConnectionLimiter(options: ConnectionLimiterOptions): ConnectionLimiter {
  const { perNetwork, trustedProxies, refused } = options
  const networks = createNetworks<Connection>(options)
  const proxied = createFairPool({ limit: Infinity, each: perNetwork })
  const connections = new Map<ClientSocket, Connection>()
  let proxies = 0
  let isClosing = false

  function describe(socket: ClientSocket): Connection {
    const peer = plainAddress(socket.remoteAddress ?? '')
    const isProxy = isTrusted(peer, trustedProxies)
    if (isProxy) proxies += 1
    const network = isProxy ? `proxy ${proxies}` : networkOf(peer)
    return { socket, network, isProxy, responses: new LinkedList() }
  }

  function forget(connection: Connection): void {
    networks.remove(connection.network, connection)
    connections.delete(connection.socket)
  }

  /** After a response: the last one in progress leaves the connection idle. */
  function settle(connection: Connection): void {
    const { socket, network, responses } = connection
    if (!responses.isEmpty || !connections.has(socket)) return
    networks.setBusy(network, connection, false)
    // Its head was sent before the close could be announced.
    if (isClosing) socket.end()
  }

  return {
    admitConnection(socket) {
      const connection = describe(socket)
      const admission = networks.admit(connection.network, connection)
      if (!admission.admitted) {
        refused(admission.limit, plainAddress(socket.remoteAddress ?? ''))
        socket.destroy()
        return false
      }
      connections.set(socket, connection)
      socket.once('close', () => {
        forget(connection)
      })
      if (admission.closed !== undefined) {
        refused('evicted')
        admission.closed.socket.destroy()
      }
      return true
    },

    admitRequest(request, response) {
      const connection = connections.get(request.socket)
      if (connection === undefined) return false
      const { network, isProxy, responses } = connection
      const address = isProxy ? clientAddress(request, trustedProxies) : ''
      const lease = isProxy ? proxied.take(networkOf(address), 1, () => undefined) : undefined
      networks.setBusy(network, connection, true)
      const node = responses.add(response)
      onResponseEnd(request, response, () => {
        lease?.release()
        responses.remove(node)
        settle(connection)
      })
      if (isClosing || networks.isNearLimit(network)) response.shouldKeepAlive = false
      if (!isProxy || lease !== undefined) return true
      refused('network_requests', address)
      return false
    },

    announceClose() {
      isClosing = true
      for (const { responses } of connections.values()) {
        for (const response of responses) {
          if (!response.headersSent) response.shouldKeepAlive = false
        }
      }
    },
  }
}
