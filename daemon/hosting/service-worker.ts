import type { Exchange } from './exchange.ts'
import { respond } from './exchange.ts'
import { PLAIN } from './headers.ts'

/** Whether a browser asks for the script of a service worker: it does so past the worker itself. */
export function isForWorker({ request }: Exchange): boolean {
  return request.method === 'GET' && request.headers['service-worker'] === 'script'
}

const HEADERS = [...PLAIN, 'Content-Type', 'text/javascript; charset=utf-8']

const SCRIPT = Buffer.from(
  `addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(registration.unregister()))
`,
)

/**
 * Answers a script that takes the place of what was installed, and then lets go of it all. While a
 * script is missing, browsers go on with the one that they have: it would show an app that is gone, or
 * a release that was taken back, for ever.
 */
export function endWorker(exchange: Exchange): void {
  respond(exchange, 200, HEADERS, SCRIPT)
}
