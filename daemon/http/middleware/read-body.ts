import type { IncomingMessage } from 'node:http'
import type { Next } from 'koa'
import typeIs from 'type-is'
import type { KeyhookError } from '../../../lib/errors.ts'
import { fromUtf8 } from '../../../lib/internal/bytes.ts'
import { JsonError, parseJson } from '../../../lib/internal/json.ts'
import type { Millis } from '../../../lib/time.ts'
import type { Operation } from '../../operations/operation.ts'
import { httpError, invalidJson } from '../../operations/errors.ts'
import { BODY_MAX_WAIT, DEFAULT_BODY_LIMIT } from '../../limits/amounts.ts'
import { holderOf } from '../../authority/principal.ts'
import { STEP_BYTES, giveWay } from '../../queues/steps.ts'
import { leaseBody, tooManyBytes } from '../traffic.ts'
import { createPaceBudget } from '../pace.ts'
import { abandonedBy } from '../response-end.ts'
import type { BodyLease, RequestContext, RequestState, Step } from '../state.ts'
import { clearBody } from '../state.ts'
import type { Swept } from '../pace.ts'
import type { Traffic } from '../traffic.ts'

const NOTHING = Buffer.alloc(0)

/**
 * Reads the body as exact bytes and parses it once; the validated value is the stored one. Its bytes are
 * counted until the operation has ended.
 */
export function readBody(
  operation: Pick<Operation, 'bodyLimit' | 'input'>,
  traffic: Traffic,
): Step {
  const limit = operation.bodyLimit ?? DEFAULT_BODY_LIMIT
  const takesBody = operation.input.body !== undefined

  /**
   * A separate function, because the step runs until the operation has ended: the bytes are freed once they
   * are text.
   */
  async function receive(ctx: RequestContext, body: BodyReader, lease: BodyLease): Promise<void> {
    const bytes = await body.read(lease, traffic)
    lease.keep()
    if (bytes.length === 0) return
    if (!takesBody) {
      throw httpError('invalid_request', { message: 'This operation takes no body.' })
    }
    requireJson(ctx)
    if (bytes.length <= STEP_BYTES) parseInto(ctx.state, bytes)
    else await parseInTurn(ctx, traffic, bytes)
  }

  async function receiveThenNext(ctx: RequestContext, next: Next): Promise<unknown> {
    const body = new BodyReader(ctx.req, limit, ctx.state.chargeBody)
    let lease: BodyLease | undefined
    try {
      if (Number(ctx.get('content-length') || 0) > limit) throw tooLarge(limit)
      lease = leaseBody(ctx, traffic, () => {
        body.refuse(tooManyBytes())
      })
      ctx.state.bodyLease = lease
      await receive(ctx, body, lease)
      return await next()
    } finally {
      lease?.release()
      clearBody(ctx.state)
      // The rest of the body is not read, so no further request can use the connection.
      if (!ctx.req.complete) ctx.set('Connection', 'close')
    }
  }

  // Not async: without a body it adds no promise.
  return function readBody(ctx, next) {
    ctx.state.bodyText = ''
    ctx.state.body = undefined
    ctx.state.bodyLease = undefined
    return mayHaveBody(ctx.req) ? receiveThenNext(ctx, next) : next()
  }
}

/**
 * Reads a body as the bytes that were sent, for a route that is no operation. They are counted until `use`
 * has ended.
 */
export async function withRawBody<T>(
  ctx: RequestContext,
  traffic: Traffic,
  limit: number,
  use: (bytes: Uint8Array) => Promise<T>,
): Promise<T> {
  if (!mayHaveBody(ctx.req)) return use(NOTHING)
  const body = new BodyReader(ctx.req, limit, undefined)
  let lease: BodyLease | undefined
  try {
    if (Number(ctx.get('content-length') || 0) > limit) throw tooLarge(limit)
    lease = leaseBody(ctx, traffic, () => {
      body.refuse(tooManyBytes())
    })
    const bytes = await body.read(lease, traffic)
    lease.keep()
    return await use(bytes)
  } finally {
    lease?.release()
    // The rest of the body is not read, so no further request can use the connection.
    if (!ctx.req.complete) ctx.set('Connection', 'close')
  }
}

/**
 * RFC 9112, 6.3: an HTTP/1 request that announces no body has none, and waiting for its end costs a turn of
 * the event loop.
 */
function mayHaveBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  return (
    httpVersionMajor !== 1 ||
    headers['content-length'] !== undefined ||
    headers['transfer-encoding'] !== undefined
  )
}

function requireJson(ctx: RequestContext): void {
  const type = ctx.get('content-type')
  // What nearly every client sends is compared before it is parsed.
  const isJson =
    type === 'application/json' || typeIs.is(type, ['application/json', '+json']) !== false
  if (!isJson || ctx.get('content-encoding') !== '') throw httpError('unsupported_media_type')
}

function decode(bytes: Uint8Array): string {
  try {
    return fromUtf8(bytes)
  } catch {
    throw httpError('invalid_json', { message: 'The body is not UTF-8.' })
  }
}

/**
 * Parses a body over `STEP_BYTES` in a queue that accounts share, one per iteration of the event loop:
 * together they would block it.
 */
async function parseInTurn(
  { state, req, res }: RequestContext,
  { parsing }: Traffic,
  bytes: Uint8Array,
): Promise<void> {
  const turn = { holder: holderOf(state.principal, state.address), signal: abandonedBy(req, res) }
  await parsing(turn, async () => {
    await giveWay()
    parseInto(state, bytes)
  })
}

function parseInto(state: RequestState, bytes: Uint8Array): void {
  state.bodyText = decode(bytes)
  state.body = parse(state.bodyText)
}

function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    throw invalidJson(cause, 'body')
  }
}

function tooLarge(limit_bytes: number): KeyhookError {
  return httpError('payload_too_large', { details: { limit_bytes } })
}

/** Event listeners, not an async iterator: the iterator costs a tenth of the requests per second. */
class BodyReader implements Swept {
  readonly #req: IncomingMessage
  readonly #limit: number
  readonly #charge: RequestState['chargeBody']
  readonly #pace = createPaceBudget(BODY_MAX_WAIT)
  #chunks: Buffer[] = []
  #size = 0
  #looked = 0
  #isOver = false
  #refused = (_cause: KeyhookError): void => undefined

  constructor(req: IncomingMessage, limit: number, charge: RequestState['chargeBody']) {
    this.#req = req
    this.#limit = limit
    this.#charge = charge
  }

  /** Stops reading; without effect once all of it was read. */
  refuse(cause: KeyhookError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#req.pause()
    this.#req.removeAllListeners('data')
    this.#chunks = []
    this.#refused(cause)
  }

  look(now: Millis): void {
    const isFine = this.#pace.waited(now - this.#looked)
    this.#looked = now
    if (!isFine) this.refuse(httpError('body_too_slow'))
  }

  read(lease: BodyLease, { moving, clock }: Traffic): Promise<Buffer> {
    const req = this.#req
    // No further event would come, and the request would wait forever.
    if (req.readableEnded) return Promise.reject(httpError('body_consumed'))
    if (req.destroyed) return Promise.reject(httpError('request_abandoned'))
    this.#looked = clock.steady()
    const node = moving.add(this)
    return new Promise((resolve, reject) => {
      this.#refused = (cause) => {
        moving.remove(node)
        reject(cause)
      }
      req.on('data', (chunk: Buffer) => {
        this.#take(chunk, lease)
      })
      req.once('end', () => {
        if (this.#isOver) return
        this.#isOver = true
        moving.remove(node)
        const [first = NOTHING] = this.#chunks
        resolve(this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first)
        this.#chunks = []
      })
      req.once('error', (cause) => {
        moving.remove(node)
        reject(cause)
      })
      req.once('aborted', () => {
        this.refuse(httpError('request_abandoned'))
      })
    })
  }

  #take(chunk: Buffer, lease: BodyLease): void {
    this.#size += chunk.length
    this.#pace.moved(chunk.length)
    const refusal = this.#refusalOf(chunk, lease)
    if (refusal === undefined) this.#chunks.push(chunk)
    else this.refuse(refusal)
  }

  #refusalOf({ length }: Buffer, lease: BodyLease): KeyhookError | undefined {
    if (this.#size > this.#limit) return tooLarge(this.#limit)
    return this.#charge?.(this.#size) ?? (lease.add(length) ? undefined : tooManyBytes())
  }
}

/** Bytes of a body that Node drains after the response, so that its connection can be reused. */
const MAX_DRAINED = 64 * 1024

/** Closes the connection after a response that was sent before its request's body, such as a 401. */
export function closeUnread(): Step {
  // Not async: a short body adds no promise.
  return function closeUnread(ctx, next) {
    return isShort(ctx.req) ? next() : closeAfterUnread(ctx, next)
  }
}

async function closeAfterUnread(ctx: RequestContext, next: Next): Promise<unknown> {
  try {
    return await next()
  } finally {
    if (!ctx.req.complete && !ctx.headerSent) ctx.set('Connection', 'close')
  }
}

/** Whether the announced body is short, or there is none. */
function isShort({ headers }: RequestContext['req']): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers
  return coding === undefined && Number(length) <= MAX_DRAINED
}
