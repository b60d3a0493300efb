import type { IncomingMessage } from 'node:http'
import Router from '@koa/router'
import { listenWith } from '../listen.ts'
import { serve } from '../serve.ts'

/** What a POST is answered with once its body was parsed. */
export interface BareAnswer {
  readonly path: string
  readonly status: number
  /** Undefined: the type of the event that was sent. */
  readonly record?: object
}

const ACCEPTED: BareAnswer = { path: '/v1/events', status: 202 }

/** The baseline of what is sent in: Koa and its router, a byte reader, JSON.parse, and an answer. */
function start({ path, status, record }: BareAnswer = ACCEPTED): Promise<string> {
  const router = new Router()
  router.post(path, async (ctx) => {
    const body = JSON.parse((await readBytes(ctx.req)).toString()) as { type: string }
    ctx.status = status
    ctx.body = record ?? { type: body.type, status: 'accepted' }
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
