import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import type Router from '@koa/router'

/** Serves a bare application of one router on a free port and answers its origin. */
export async function listenWith(router: Router): Promise<string> {
  const handler = new Koa().use(router.routes()).callback()
  const server = createServer((request, response) => void handler(request, response))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
