import type { RequestListener } from 'node:http'
import type { Config } from '../config.ts'
import { closeServer, createLimitedServer, listenOn } from '../listen.ts'
import { PLAIN } from './headers.ts'
import { appsPortOf } from './place.ts'

/** The listener of apps, apart from the API's: nothing that one of them answers is found on the other. */
export interface AppsListener {
  readonly address: { readonly host: string; readonly port: number }
  /** Answers with this from now on; until then it says to come back. */
  serve(handler: RequestListener): void
  /** Stops accepting, lets what is under way finish, and cuts it after `grace`. */
  close(grace: number): Promise<void>
}

/** @throws ConfigError when the address cannot be had */
export async function openAppsListener(config: Config): Promise<AppsListener> {
  const server = createLimitedServer()
  let handle: RequestListener = notReady
  server.on('request', (request, response) => {
    handle(request, response)
  })
  const host = config.appsHost ?? config.host
  const address = await listenOn(server, host, appsPortOf(config), 'KEYHOOK_APPS_PORT')
  return {
    address,
    serve(handler) {
      handle = handler
    },
    close: (grace) => closeServer(server, grace),
  }
}

const notReady: RequestListener = (request, response) => {
  request.resume()
  const type = ['Content-Type', 'text/plain; charset=utf-8']
  response.writeHead(503, [...PLAIN, ...type, 'Retry-After', '1', 'Connection', 'close'])
  response.end('This is being started. Try again shortly.\n')
}
