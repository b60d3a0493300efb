import type { RequestListener } from 'node:http'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { getRequestListener } from '@hono/node-server'
import { callbackOf, fastifyOf, koaOf } from '../../daemon/embed/routes.ts'
import { webOf } from '../../daemon/embed/web/handler.ts'

/** How the API is served to the tests: alone, or inside somebody else's server. */
interface Mounting {
  /** The path that it is below. */
  readonly prefix: string
  serve(api: RequestListener): Promise<RequestListener>
}

const PREFIX = '/our/developers'

const HOSTS = {
  async http(api) {
    return callbackOf(api, PREFIX)
  },
  async koa(api) {
    const app = new Koa()
    app.use(koaOf(callbackOf(api, PREFIX)))
    app.use((ctx) => {
      ctx.body = 'ours'
    })
    const handle = app.callback()
    return (request, response) => void handle(request, response)
  },
  async express(api) {
    const app = express()
    app.use(PREFIX, callbackOf(api))
    app.use(express.json())
    return (request, response) => {
      app(request, response)
    }
  },
  async fastify(api) {
    const app = fastify()
    app.register(
      fastifyOf((prefix) => callbackOf(api, prefix)),
      { prefix: PREFIX },
    )
    await app.ready()
    return (request, response) => {
      app.routing(request, response)
    }
  },
  /** Through web-standard requests, which Hono's server makes of those of `node:http`. */
  async web(api) {
    const web = webOf(callbackOf(api, PREFIX), () => '127.0.0.1')
    const listen = getRequestListener((request) => web(request))
    return (request, response) => void listen(request, response)
  },
} satisfies Record<string, Mounting['serve']>

const ALONE: Mounting = { prefix: '', serve: (api) => Promise.resolve(api) }

let mounting = ALONE

/** From now on worlds of this process serve the API that way. */
export function mountIn(host: keyof typeof HOSTS): void {
  mounting = { prefix: PREFIX, serve: HOSTS[host] }
}

export function currentMounting(): Mounting {
  return mounting
}
