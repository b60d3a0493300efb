// Serves worker.mjs as a runtime for workers does.
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import worker from './worker.mjs'

createServer(async (incoming, outgoing) => {
  const { method, headers } = incoming
  const request = new Request('http://127.0.0.1:8080/in', {
    method,
    headers,
    body: await buffer(incoming),
  })
  const { status } = await worker.fetch(request, process.env)
  outgoing.writeHead(status).end()
}).listen(8080, '127.0.0.1')
