import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from './child.ts'

/** Counts what arrives and answers at once. */
let count = 0

async function start(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () => {
      count++
      response.statusCode = 204
      response.end()
    })
  })
  server.keepAliveTimeout = 30_000
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

serve({ start, count: () => count })
