import type { RequestListener } from 'node:http'
import inject from 'light-my-request'

/** A `fetch` that calls a handler of this process without a socket. */
export function fetchFrom(handler: RequestListener): typeof globalThis.fetch {
  return async (address, init = {}) => {
    const { pathname, search } = new URL(address instanceof Request ? address.url : address)
    const { statusCode, payload, headers } = await inject(handler, {
      method: (init.method ?? 'GET') as 'GET',
      url: pathname + search,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' ? { payload: init.body } : {}),
    })
    const shown = Object.entries(headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ])
    return new Response(payload === '' ? null : payload, { status: statusCode, headers: shown })
  }
}
