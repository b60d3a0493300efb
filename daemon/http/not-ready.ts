import type { RequestListener } from 'node:http'
import type { KeyhookError } from '../../lib/errors.ts'
import { kernelError } from '../../lib/errors.ts'
import { httpError } from '../operations/errors.ts'

/** Responds while the daemon starts: it already listens, so that no client waits in vain. */
export const notReady: RequestListener = refusing(
  kernelError('unavailable', { message: 'The service is starting. Try again shortly.' }),
  { connection: 'close' },
)

/** Responds to a request through a proxy for a network with too many requests in progress. */
export const tooManyRequests: RequestListener = refusing(
  httpError('rate_limited', {
    message: 'Too many requests of this network are in progress. Try again shortly.',
    details: { retry_after: 1 },
  }),
)

function refusing(
  { code, message, status, details }: KeyhookError,
  headers: Readonly<Record<string, string>> = {},
): RequestListener {
  const error = {
    code,
    message,
    status,
    request_id: '',
    doc_url: '',
    details: details ?? {},
    errors: [],
  }
  const body = JSON.stringify({ error })
  return (request, response) => {
    request.resume()
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'retry-after': '1',
      ...headers,
    })
    response.end(body)
  }
}
