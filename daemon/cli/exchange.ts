import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http'
import { request as httpRequest } from 'node:http'
import type { Writable } from 'node:stream'
import type { Millis } from '../../lib/time.ts'
import { ownVersion } from '../machine/own-version.ts'
import { encodeParts } from './encode-parts.ts'
import type { CommandRequest } from './request.ts'

/** Where a request goes: to an address, without a final slash, or to a control socket. */
export type Target = { readonly url: string } | { readonly socketPath: string }

/** Of a response, which is held and printed as a whole. */
const MOST_BYTES = 64 * 2 ** 20

export interface ExchangeOptions {
  readonly account: string | undefined
  readonly key?: string
  /** Maximum time without a byte, and from the first byte of a response to its last. */
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
      // Who asked for a change is in the audit log, and some firewalls refuse those who do not say.
      ...(key !== undefined && {
        Authorization: `Bearer ${key}`,
        'User-Agent': `keyhook-cli/${ownVersion()}`,
      }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(multipart !== undefined && { 'Content-Type': multipart.type }),
      ...(account !== undefined && { 'Keyhook-Account': account }),
      ...(method === 'POST' && { 'Idempotency-Key': randomUUID() }),
    },
  })
  return new Promise((resolve, reject) => {
    const isLate = (): void => {
      const late = new Error('the daemon does not answer; what it did is not known')
      request.destroy(Object.assign(late, { code: 'ETIMEDOUT' }))
    }
    request.once('timeout', isLate)
    request.once('error', reject)
    request.once('response', (response) => {
      const timer = setTimeout(isLate, within)
      textOf(response)
        .finally(() => {
          clearTimeout(timer)
        })
        .then((text) => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        }, reject)
    })
    if (multipart === undefined) request.end(body)
    else void streamBody(multipart.bytes, request, reject)
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error(`it answered more than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
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
