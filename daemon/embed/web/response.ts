import { Writable } from 'node:stream'
import { kernelError } from '../../../lib/errors.ts'
import { WITHOUT_BODY } from '../../http/without-body.ts'
import type { WebConnection } from './connection.ts'

/** A response up to this size is handed over whole: a socket, too, takes it at once. */
const WHOLE_BYTES = 16_384
/** Bytes of one chunk of a larger one, so that the pace of its reader shows. */
const PIECE_BYTES = 65_536

/** RFC 9110, 7.6.1: these describe a connection, which is the server's. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])

type HeaderValue = number | string | readonly string[]

interface Waiting {
  rest: Uint8Array
  readonly taken: () => void
}

/** `node:http`'s `ServerResponse`, which becomes a web-standard response once its headers are known. */
export class WebResponse extends Writable {
  statusCode = 200
  statusMessage = ''
  headersSent = false
  readonly socket: WebConnection
  readonly #isHead: boolean
  readonly #headers = new Map<string, { readonly name: string; readonly value: HeaderValue }>()
  readonly #answer: (response: Response) => void
  readonly #refuse: (cause: unknown) => void
  #body: ReadableStreamDefaultController<Uint8Array> | undefined
  #waiting: Waiting | undefined
  #pulled: (() => void) | undefined

  constructor(
    { socket, method }: { readonly socket: WebConnection; readonly method: string },
    answer: (response: Response) => void,
    refuse: (cause: unknown) => void,
  ) {
    super()
    this.socket = socket
    this.#isHead = method === 'HEAD'
    this.#answer = answer
    this.#refuse = refuse
    socket.once('close', () => this.destroy())
  }

  get finished(): boolean {
    return this.writableEnded
  }

  setHeader(name: string, value: HeaderValue): this {
    if (this.headersSent) throw new Error('the headers were sent already')
    this.#headers.set(name.toLowerCase(), { name, value })
    return this
  }

  getHeader(name: string): HeaderValue | undefined {
    return this.#headers.get(name.toLowerCase())?.value
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase())
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase())
  }

  getHeaderNames(): string[] {
    return [...this.#headers.keys()]
  }

  getHeaders(): Readonly<Record<string, HeaderValue>> {
    return Object.fromEntries(Array.from(this.#headers, ([name, { value }]) => [name, value]))
  }

  flushHeaders(): void {
    if (!this.headersSent) this.#begin(this.#mayHaveBody() ? this.#stream() : null)
  }

  override write(chunk: unknown, ...rest: readonly unknown[]): boolean {
    this.flushHeaders()
    return super.write(chunk, ...(rest as []))
  }

  override end(...given: readonly unknown[]): this {
    const [chunk] = given
    const isText = typeof chunk === 'string'
    if (this.headersSent || !(isText || chunk instanceof Uint8Array)) {
      this.#beginWith(null)
      return super.end(...(given as []))
    }
    const bytes = isText ? Buffer.from(chunk) : chunk
    if (bytes.length > WHOLE_BYTES && this.#mayHaveBody()) {
      this.flushHeaders()
      return super.end(bytes)
    }
    this.#beginWith(bytes)
    return super.end()
  }

  override _write(chunk: Buffer, _encoding: string, taken: () => void): void {
    if (this.#body === undefined) {
      taken()
      return
    }
    this.#waiting = { rest: chunk, taken }
    this.#hand()
  }

  override _final(done: () => void): void {
    this.#body?.close()
    this.#body = undefined
    done()
  }

  override _destroy(cause: Error | null, done: (cause: null) => void): void {
    this.#waiting = undefined
    const left = cause ?? kernelError('unavailable', { message: 'The response was cut off.' })
    if (!this.headersSent) this.#refuse(left)
    this.#body?.error(left)
    this.#body = undefined
    this.socket.destroy()
    done(null)
  }

  #mayHaveBody(): boolean {
    return !this.#isHead && !WITHOUT_BODY.has(this.statusCode)
  }

  #beginWith(bytes: Uint8Array<ArrayBufferLike> | null): void {
    if (!this.headersSent) this.#begin(this.#mayHaveBody() ? bytes : null)
  }

  #begin(body: ReadableStream<Uint8Array> | Uint8Array | null): void {
    this.headersSent = true
    const headers = new Headers()
    for (const [key, { name, value }] of this.#headers) {
      if (HOP_BY_HOP.has(key)) continue
      if (Array.isArray(value)) for (const one of value) headers.append(name, String(one))
      else headers.set(name, String(value))
    }
    this.#answer(
      new Response(body as ConstructorParameters<typeof Response>[0], {
        status: this.statusCode,
        headers,
      }),
    )
  }

  #stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (body) => {
          this.#body = body
        },
        pull: () =>
          new Promise<void>((pulled) => {
            this.#pulled = pulled
            this.#hand()
          }),
        cancel: () => {
          this.#body = undefined
          this.destroy()
        },
      },
      // Nothing is taken before it is read: the bytes stay counted until then.
      { highWaterMark: 0 },
    )
  }

  /** One piece for each pull. */
  #hand(): void {
    const waiting = this.#waiting
    const pulled = this.#pulled
    if (waiting === undefined || pulled === undefined) return
    const piece = waiting.rest.subarray(0, PIECE_BYTES)
    waiting.rest = waiting.rest.subarray(PIECE_BYTES)
    this.#pulled = undefined
    this.#body?.enqueue(piece)
    this.socket._handle.bytesWritten += piece.length
    pulled()
    if (waiting.rest.length > 0) return
    this.#waiting = undefined
    waiting.taken()
  }
}
