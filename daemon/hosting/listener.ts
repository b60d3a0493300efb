import type { RequestListener } from 'node:http'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Config } from '../config/config.ts'
import type { ReadersPace } from '../http/slow-readers.ts'
import { watchReader } from '../http/slow-readers.ts'
import type { Listener } from '../listener/listener.ts'
import { openListener } from '../listener/listener.ts'
import { clockOf } from '../machine/ports.ts'
import { PLAIN } from './headers.ts'
import { appsPortOf } from './apps-hosting.ts'

/**
 * Longer than for API clients: a phone loses its network now and then, and the system reports large pieces
 * at once. With the check interval, a minute.
 */
const MAX_WAIT: Millis = 55 * SECOND

/**
 * The listener of apps, separate from the API's: no path of one exists on the other.
 *
 * @param pace default: by the machine's clock
 * @throws ConfigError when the address cannot be used
 */
export function openAppsListener(
  config: Config,
  pace: ReadersPace = { clock: clockOf({}) },
): Promise<Listener> {
  return openListener({
    host: config.appsHost ?? config.host,
    port: appsPortOf(config),
    setting: 'KEYHOOK_APPS_PORT',
    limits: { total: config.appsConnections, perNetwork: config.appsNetworkConnections },
    trustedProxies: config.trustedProxies,
    notReady,
    tooMany,
    connected: (socket, refused) => {
      watchReader(socket, { maxWait: MAX_WAIT, ...pace }, () => {
        refused('slow')
      })
    },
  })
}

const notReady = saying(503, 'This is being started. Try again shortly.', ['Connection', 'close'])

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
