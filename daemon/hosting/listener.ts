import type { RequestListener } from 'node:http'
import type { Config } from '../config.ts'
import { closeServer, createLimitedServer, listenOn } from '../listen.ts'
import { clockOf } from '../machine.ts'
import { createCrowd } from './crowd.ts'
import { PLAIN } from './headers.ts'
import { appsPortOf } from './place.ts'
import type { Refused } from './refusals.ts'
import type { ReadersPace } from './slow-readers.ts'
import { watchReader } from './slow-readers.ts'

/** The listener of apps, apart from the API's: nothing that one of them answers is found on the other. */
export interface AppsListener {
  readonly address: { readonly host: string; readonly port: number }
  /**
   * Answers with this from now on; until then it says to come back.
   *
   * @param refused hears of visitors that are refused before it; default nobody does
   */
  serve(handler: RequestListener, refused?: Refused): void
  /** Stops accepting, lets what is under way finish, and cuts it after `grace`. */
  close(grace: number): Promise<void>
}

/**
 * @param pace default by the machine's clock
 * @throws ConfigError when the address cannot be had
 */
export async function openAppsListener(
  config: Config,
  pace: ReadersPace = { clock: clockOf({}) },
): Promise<AppsListener> {
  const server = createLimitedServer()
  let handle: RequestListener = notReady
  let tell: Refused = () => undefined
  const refused: Refused = (why, address) => {
    tell(why, address)
  }
  const crowd = createCrowd({
    perNetwork: config.appsNetworkConnections,
    trustedProxies: config.trustedProxies,
    refused,
  })
  server.maxConnections = config.appsConnections
  server.on('drop', () => {
    refused('connections')
  })
  server.on('connection', (socket) => {
    if (crowd.admitsConnection(socket)) watchReader(socket, pace, () => refused('slow'))
  })
  server.on('request', (request, response) => {
    if (crowd.admitsRequest(request, response)) handle(request, response)
    else tooMany(request, response)
  })
  const host = config.appsHost ?? config.host
  const address = await listenOn(server, host, appsPortOf(config), 'KEYHOOK_APPS_PORT')
  return {
    address,
    serve(handler, refused = tell) {
      handle = handler
      tell = refused
    },
    close: (grace) => closeServer(server, grace),
  }
}

const notReady = saying(503, 'This is being started. Try again shortly.', ['Connection', 'close'])

/** The connection is a proxy's, and goes on. */
const tooMany = saying(429, 'Too much is being asked for from where you are. Try again shortly.')

function saying(status: number, text: string, headers: readonly string[] = []): RequestListener {
  const body = Buffer.from(`${text}\n`)
  const type = ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(body.length)]
  const own = [...PLAIN, ...type, 'Retry-After', '1', ...headers]
  return (request, response) => {
    request.resume()
    response.writeHead(status, own)
    response.end(body)
  }
}
