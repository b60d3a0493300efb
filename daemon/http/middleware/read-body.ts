import type { IncomingMessage } from 'node:http'
import { fromUtf8 } from '../../../lib/internal/bytes.ts'
import { JsonError, parseJson } from '../../../lib/internal/json.ts'
import type { Operation } from '../../family.ts'
import { httpError, invalidJson } from '../../errors.ts'
import type { RequestContext, Step } from '../state.ts'

const DEFAULT_LIMIT = 1_048_576
const NOTHING = Buffer.alloc(0)

/** Reads the body as exact bytes and parses it once; what is validated is what is stored. */
export function readBody(operation: Operation): Step {
  const limit = operation.bodyLimit ?? DEFAULT_LIMIT
  const takesBody = operation.input.body !== undefined
  return async function readBody(ctx, next) {
    const bytes = mayHaveBody(ctx.req)
      ? await readBytes(ctx.req, Number(ctx.get('content-length') || 0), limit)
      : NOTHING
    if (bytes.length > 0) {
      if (!takesBody) {
        throw httpError('invalid_request', { message: 'This operation takes no body.' })
      }
      requireJson(ctx)
      ctx.state.bodyText = decode(bytes)
      ctx.state.body = parse(ctx.state.bodyText)
    } else {
      ctx.state.bodyText = ''
      ctx.state.body = undefined
    }
    return next()
  }
}

/** RFC 9112, 6.3: on HTTP/1, what announces no body has none, and waiting for its end costs a turn. */
function mayHaveBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  return (
    httpVersionMajor !== 1 ||
    headers['content-length'] !== undefined ||
    headers['transfer-encoding'] !== undefined
  )
}

function requireJson(ctx: RequestContext): void {
  const type = ctx.get('content-type').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const json = type === 'application/json' || type.endsWith('+json')
  if (!json || ctx.get('content-encoding') !== '') throw httpError('unsupported_media_type')
}

function decode(bytes: Uint8Array): string {
  try {
    return fromUtf8(bytes)
  } catch {
    throw httpError('invalid_json', { message: 'The body is not UTF-8.' })
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    throw invalidJson(cause, 'body')
  }
}

/** Event listeners, not an async iterator: the iterator costs a tenth of the requests per second. */
function readBytes(req: IncomingMessage, announced: number, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const refuse = (): void => {
      req.pause()
      req.removeAllListeners('data')
      reject(httpError('payload_too_large', { details: { limit_bytes: limit } }))
    }
    if (announced > limit) {
      refuse()
      return
    }
    // Nothing would come any more, and the request would wait for ever.
    if (req.readableEnded) {
      reject(httpError('body_consumed'))
      return
    }
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > limit) refuse()
    })
    req.once('end', () => {
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
    })
    req.once('error', reject)
    req.once('aborted', () => {
      reject(httpError('invalid_request', { message: 'The request was cut off.' }))
    })
  })
}
