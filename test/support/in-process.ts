import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import Koa from 'koa'
import compose from 'koa-compose'
import type { RequestState, Step } from '../../daemon/http/state.ts'

export interface RawRequest {
  readonly method: string
  /** With its query, encoded. */
  readonly path: string
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/**
 * Asks steps without a network, which tens of thousands of requests would spend most of their time on.
 * Headers are still checked by `node:http` as they are set; nothing is parsed or written as HTTP.
 */
export function askInProcess(step: Step): (request: RawRequest) => Promise<RawAnswer> {
  const app = new Koa<RequestState>()
  const run = compose([step])
  return async ({ method, path, headers, body }) => {
    const request = requestOf(method, path, headers, body)
    const ctx = app.createContext<RequestState>(request, new ServerResponse(request))
    ctx.status = 404
    await run(ctx)
    const answer: unknown = ctx.body
    const text = answer instanceof Readable ? await read(answer, ctx.type) : printed(answer)
    // As a connection tells: what is held for the response is given back.
    ctx.res.emit('close')
    return { status: ctx.status, headers: ctx.response.headers, text }
  }
}

/** Of events the first piece alone: they may never end. */
async function read(answer: Readable, type: string): Promise<string> {
  if (type !== 'text/event-stream') return text(answer)
  for await (const piece of answer) return String(piece)
  return ''
}

function printed(answer: unknown): string {
  if (Buffer.isBuffer(answer)) return answer.toString()
  return typeof answer === 'string' ? answer : JSON.stringify(answer)
}

function requestOf(
  method: string,
  path: string,
  headers: RawRequest['headers'],
  body: RawRequest['body'],
): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body)
  request.method = method
  request.url = path
  request.headers = {
    ...headers,
    ...(bytes.length === 0 ? {} : { 'content-length': String(bytes.length) }),
  }
  if (bytes.length > 0) request.push(bytes)
  request.push(null)
  request.complete = true
  return request
}
