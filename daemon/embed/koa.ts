/**
 * `keyhook/koa`: the API of a Keyhook as a middleware, or as a plain `(request, response)` callback.
 *
 * @module
 */
import type { Keyhook, RouteOptions } from './index.ts'

/**
 * The API as a middleware of Koa.
 *
 * @example
 * app.use(mount(keyhook, { prefix: '/developer', resolve: async (request) => signedIn(request) }))
 */
export function mount(keyhook: Pick<Keyhook, 'koa'>, options?: RouteOptions): KoaMiddleware {
  return keyhook.koa(options)
}

type KoaMiddleware = ReturnType<Keyhook['koa']>

/**
 * The API for `node:http` and whatever takes `(request, response, next)`.
 *
 * @example
 * createServer(callback(keyhook)).listen(3000, '127.0.0.1')
 */
export function callback(
  keyhook: Pick<Keyhook, 'callback'>,
  options?: RouteOptions,
): ReturnType<Keyhook['callback']> {
  return keyhook.callback(options)
}
