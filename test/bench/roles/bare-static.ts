import { createReadStream } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import sirv from 'sirv'
import { serve } from '../serve.ts'
import { STATIC, TYPES, writeStatic } from '../static.ts'

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** sirv as it is used in production: it looks at the folder once, and sends the tags that we send too. */
async function startSirv(folder: string): Promise<string> {
  return listen(sirv(await writeStatic(folder), { dev: false, etag: true }))
}

/** The least that Node needs to send a file. */
async function startStream(folder: string): Promise<string> {
  const file = join(await writeStatic(folder), 'large.bin')
  const headers = {
    'Content-Type': TYPES['large.bin'],
    'Content-Length': STATIC['large.bin'].length,
  }
  return listen((_, response) => {
    response.writeHead(200, headers)
    createReadStream(file).pipe(response)
  })
}

serve({ startSirv, startStream })
