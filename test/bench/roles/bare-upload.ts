import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import Router from '@koa/router'
import { listenWith } from '../listen.ts'
import { serve } from '../serve.ts'

/** The baseline of an upload: Koa and its router, which stream a body as it comes to a file of its own. */
function start(folder: string): Promise<string> {
  const router = new Router()
  let files = 0
  router.post('/v1/apps/:id/files', async (ctx) => {
    const path = join(folder, String(files++))
    await pipeline(ctx.req, createWriteStream(path, { flags: 'wx', flush: true }))
    ctx.status = 202
    ctx.body = { status: 'kept' }
  })
  return listenWith(router)
}

serve({ start })
