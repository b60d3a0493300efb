import type { RequestListener } from 'node:http'
import { kernelError } from '../../lib/errors.ts'

/** Answers while the daemon starts: it listens already, so that nobody waits for an answer in vain. */
export const notReady: RequestListener = (request, response) => {
  const { code, message, status } = kernelError('unavailable', {
    message: 'The service is starting. Try again shortly.',
  })
  request.resume()
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'retry-after': '1',
    connection: 'close',
  })
  const error = { code, message, status, request_id: '', doc_url: '', details: {}, errors: [] }
  response.end(JSON.stringify({ error }))
}
