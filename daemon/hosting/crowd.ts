import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Cidr } from '../../lib/egress/address.ts'
import { clientAddress, isTrusted, plainAddress } from '../http/client-address.ts'
import { networkOf } from '../network.ts'
import { createPlaces } from './places.ts'
import type { Refused } from './refusals.ts'
import type { Socket } from './slow-readers.ts'

export interface CrowdOptions {
  /** What visitors of one network may have at once: connections, or requests. */
  readonly perNetwork: number
  readonly trustedProxies: readonly Cidr[]
  readonly refused: Refused
}

/** Sees to it that visitors of one network leave room for others. */
export interface Crowd {
  /** False for a connection that is one too many: it is closed. */
  admitsConnection(socket: Socket): boolean
  /** False for a request that is one too many, of those that a trusted proxy brings. */
  admitsRequest(request: IncomingMessage, response: ServerResponse): boolean
}

/**
 * Counts the connections of each network; where a trusted proxy stands in front, visitors share its
 * connections, and what each network has under way over them is counted instead.
 */
export function createCrowd({ perNetwork, trustedProxies, refused }: CrowdOptions): Crowd {
  const places = createPlaces({ each: perNetwork })
  /** Of each connection of a proxy, what gives the places of its requests back. */
  const held = new WeakMap<Socket, Set<() => void>>()

  function holdFor(socket: Socket): void {
    const leaving = new Set<() => void>()
    held.set(socket, leaving)
    // An answer that waits for its turn does not tell that nobody waits for it any more.
    socket.once('close', () => {
      for (const leave of leaving) leave()
      leaving.clear()
    })
  }

  return {
    admitsConnection(socket) {
      const peer = plainAddress(socket.remoteAddress ?? '')
      if (isTrusted(peer, trustedProxies)) {
        holdFor(socket)
        return true
      }
      const leave = places.take(networkOf(peer))
      if (leave === undefined) {
        refused('network_connections', peer)
        socket.destroy()
        return false
      }
      socket.once('close', leave)
      return true
    },
    admitsRequest(request, response) {
      const leaving = held.get(request.socket)
      if (leaving === undefined) return true
      const address = clientAddress(request, trustedProxies)
      const leave = places.take(networkOf(address))
      if (leave === undefined) {
        refused('network_requests', address)
        return false
      }
      leaving.add(leave)
      response.once('close', () => {
        if (leaving.delete(leave)) leave()
      })
      return true
    },
  }
}
