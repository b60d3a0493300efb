import type { RequestListener } from 'node:http'
import { callbackOf } from './routes.ts'
import { webOf } from './web/handler.ts'

/** The peer of a call within the process, for the audit log. */
const HERE = '127.0.0.1'

/** A `fetch` that calls a handler of this process without a socket. */
export function fetchFrom(handler: RequestListener): typeof globalThis.fetch {
  const respond = webOf(callbackOf(handler), () => HERE)
  return (address, init) => respond(new Request(address, init))
}
