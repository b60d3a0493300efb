import type { RequestListener } from 'node:http'
import type { Cidr } from '../../lib/egress/address.ts'
import type { ServerTimes } from './listen.ts'
import { closeServer, createLimitedServer, listenOn } from './listen.ts'
import type { ClientSocket } from './connection-limiter.ts'
import { createConnectionLimiter } from './connection-limiter.ts'
import type { ConnectionLimits } from './networks.ts'
import type { Refused } from './refusals.ts'

/** A listener with limits; it listens before anything is ready, so that nobody waits in vain. */
export interface Listener {
  readonly address: { readonly host: string; readonly port: number }
  /**
   * Answers with `handler` from now on; until then, with `notReady`.
   *
   * @param refused told of connections and requests that are refused; default nobody
   */
  serve(handler: RequestListener, refused?: Refused): void
  /** Announces in every response that its connection ends. */
  announceClose(): void
  /** Stops accepting, lets what is in progress finish, and cuts it after `grace`. */
  close(grace: number): Promise<void>
}

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  /** The setting of the port, for errors. */
  readonly setting: string
  readonly limits: ConnectionLimits
  readonly trustedProxies: readonly Cidr[]
  readonly notReady: RequestListener
  /** Answers a request over the limit of its network; its connection is a proxy's, and goes on. */
  readonly tooMany: RequestListener
  /** Told of every connection that is admitted. */
  readonly connected?: (socket: ClientSocket, refused: Refused) => void
  readonly times?: Partial<ServerTimes>
}

/** @throws ConfigError when the address cannot be had */
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
