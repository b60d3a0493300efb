import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import { serve } from './child.ts'

/** The baseline of accepting: Koa and its router, a byte reader, JSON.parse, and a 202. */
function readBytes(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.once('end', () => {
      resolve(Buffer.concat(chunks))
    })
    req.once('error', reject)
  })
}

async function start(): Promise<string> {
  const app = new Koa()
  const router = new Router()
  router.post('/v1/events', async (ctx) => {
    const body = JSON.parse((await readBytes(ctx.req)).toString()) as { type: string }
    ctx.status = 202
    ctx.body = { type: body.type, status: 'accepted' }
  })
  app.use(router.routes())
  const handler = app.callback()
  const server = createServer((request, response) => void handler(request, response))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

serve({ start })
