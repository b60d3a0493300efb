import type { IncomingMessage } from 'node:http'
import Router from '@koa/router'
import { listenWith } from '../listen.ts'
import { serve } from '../serve.ts'

/** The baseline of accepting: Koa and its router, a byte reader, JSON.parse, and a 202. */
function start(): Promise<string> {
  const router = new Router()
  router.post('/v1/events', async (ctx) => {
    const body = JSON.parse((await readBytes(ctx.req)).toString()) as { type: string }
    ctx.status = 202
    ctx.body = { type: body.type, status: 'accepted' }
  })
  return listenWith(router)
}

/** As the daemon reads them. */
function readBytes(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.once('end', () => {
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
    })
    req.once('error', reject)
  })
}

serve({ start })
