/**
 * `keyhook/koa`: the API of a Keyhook as middleware, or as a plain `(request, response)` callback.
 *
 * @module
 */
import { OBJECT, declareArguments, optional, portOf } from '../../lib/internal/arguments.ts'
import type { Keyhook, RouteOptions } from './index.ts'

// The given Keyhook checks the options.
const readMount = declareArguments('mount', { keyhook: portOf('koa'), options: optional(OBJECT) })
const readCallback = declareArguments('callback', {
  keyhook: portOf('callback'),
  options: optional(OBJECT),
})

/**
 * The API as Koa middleware.
 *
 * @example
 * app.use(mount(keyhook, { prefix: '/developer', resolve: async (request) => signedIn(request) }))
 */
export function mount(
  ...args: readonly [keyhook: Pick<Keyhook, 'koa'>, options?: RouteOptions]
): KoaMiddleware {
  readMount(args)
  const [keyhook, options] = args
  return keyhook.koa(options)
}

type KoaMiddleware = ReturnType<Keyhook['koa']>

/**
 * The API for `node:http` and every framework with `(request, response, next)`.
 *
 * @example
 * createServer(callback(keyhook)).listen(3000, '127.0.0.1')
 */
export function callback(
  ...args: readonly [keyhook: Pick<Keyhook, 'callback'>, options?: RouteOptions]
): ReturnType<Keyhook['callback']> {
  readCallback(args)
  const [keyhook, options] = args
  return keyhook.callback(options)
}
