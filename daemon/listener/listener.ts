import type { RequestListener } from 'node:http'
import type { Cidr } from '../../lib/egress/address.ts'
import type { ServerTimes } from './listen.ts'
import { closeServer, createLimitedServer, listenOn } from './listen.ts'
import type { ClientSocket } from './connection-limiter.ts'
import { createConnectionLimiter } from './connection-limiter.ts'
import type { ConnectionLimits } from './networks.ts'
import type { Refused } from './refusals.ts'

/** A listener with limits; it listens before the daemon is ready, so that no client waits in vain. */
export interface Listener {
  readonly address: { readonly host: string; readonly port: number }
  /**
   * Responds with `handler` from now on; with `notReady` until then.
   *
   * @param refused receives refused connections and requests. Default: none
   */
  serve(handler: RequestListener, refused?: Refused): void
  /** Announces in every response that its connection ends. */
  announceClose(): void
  /** Stops accepting, lets requests in progress finish, and cuts them after `grace`. */
  close(grace: number): Promise<void>
}

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  /** Setting of the port, for errors. */
  readonly setting: string
  readonly limits: ConnectionLimits
  readonly trustedProxies: readonly Cidr[]
  readonly notReady: RequestListener
  /**
   * Responds to a request over the limit of its network; its connection belongs to a proxy, and continues.
   */
  readonly tooMany: RequestListener
  /** Receives every admitted connection. */
  readonly connected?: (socket: ClientSocket, refused: Refused) => void
  readonly times?: Partial<ServerTimes>
}

/**
 * @throws ConfigError when the address cannot be used
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { host, port, setting, limits, trustedProxies, tooMany, connected } = options
  const server = createLimitedServer(options.times)
  let handle = options.notReady
  let onRefused: Refused = () => undefined
  const refused: Refused = (why, address) => {
    onRefused(why, address)
  }
  const limiter = createConnectionLimiter({ ...limits, trustedProxies, refused })
  server.on('connection', (socket) => {
    if (limiter.admitConnection(socket)) connected?.(socket, refused)
  })
  server.on('request', (request, response) => {
    const answer = limiter.admitRequest(request, response) ? handle : tooMany
    answer(request, response)
  })
  const address = await listenOn(server, host, port, setting)
  return {
    address,
    serve(handler, refused = onRefused) {
      handle = handler
      onRefused = refused
    },
    announceClose: limiter.announceClose,
    close(grace) {
      limiter.announceClose()
      return closeServer(server, grace)
    },
  }
}
