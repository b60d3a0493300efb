import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ClientRequest, IncomingHttpHeaders, RequestOptions } from 'node:http'
import { request as httpRequest } from 'node:http'
import type { Writable } from 'node:stream'
import type { Millis } from '../../lib/time.ts'
import { encodeParts } from './encode-parts.ts'
import type { CommandRequest } from './request.ts'

/** Where a request goes: to an address, without a final slash, or to a control socket. */
export type Target = { readonly url: string } | { readonly socketPath: string }

export interface ExchangeOptions {
  readonly account: string | undefined
  readonly key?: string
  /** Maximum time without a byte. */
  readonly within: Millis
}

export interface Exchanged {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends a command's request and reads the response. No redirect is followed. `fetch` takes three times as long. */
export async function exchange(
  target: Target,
  { method, path, body, parts }: CommandRequest,
  { account, key, within }: ExchangeOptions,
): Promise<Exchanged> {
  const multipart = parts && encodeParts(parts)
  const request = await open(target, path, {
    agent: false,
    method,
    timeout: within,
    headers: {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(multipart !== undefined && { 'Content-Type': multipart.type }),
      ...(account !== undefined && { 'Keyhook-Account': account }),
      ...(method === 'POST' && { 'Idempotency-Key': randomUUID() }),
    },
  })
  return new Promise((resolve, reject) => {
    request.once('timeout', () => {
      const late = new Error('the daemon does not answer; what it did is not known')
      request.destroy(Object.assign(late, { code: 'ETIMEDOUT' }))
    })
    request.once('error', reject)
    request.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => {
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, text: Buffer.concat(chunks).toString() })
      })
    })
    if (multipart === undefined) request.end(body)
    else void streamBody(multipart.bytes, request, reject)
  })
}

async function open(target: Target, path: string, options: RequestOptions): Promise<ClientRequest> {
  if ('socketPath' in target) return httpRequest({ ...options, ...target, path })
  const url = new URL(target.url + path)
  if (url.protocol === 'http:') return httpRequest(url, options)
  const { request } = await import('node:https')
  return request(url, options)
}

/**
 * Streams the body. A server that responds early may close the connection before all was sent; its response
 * counts.
 */
async function streamBody(
  bytes: AsyncIterable<Uint8Array>,
  request: Writable,
  reject: (cause: unknown) => void,
): Promise<void> {
  try {
    for await (const chunk of bytes) {
      if (!request.writable) return
      if (!request.write(chunk)) await once(request, 'drain')
    }
    request.end()
  } catch (cause) {
    reject(cause)
    request.destroy()
  }
}
