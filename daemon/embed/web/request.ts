import { Readable } from 'node:stream'
import type { WebConnection } from './connection.ts'

/** A web-standard request in the form of `node:http`'s `IncomingMessage`. */
export class WebRequest extends Readable {
  /** The request as it was given. */
  readonly given: Request
  /** What the framework passed beside it. */
  readonly context: readonly unknown[]
  readonly socket: WebConnection
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  url: string
  complete = false
  aborted = false
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  constructor(given: Request, context: readonly unknown[], socket: WebConnection) {
    super()
    this.given = given
    this.context = context
    this.socket = socket
    this.method = given.method
    const { pathname, search, host } = new URL(given.url)
    this.url = pathname + search
    // A body that somebody else has read, or reads, is told by `readableEnded`, as in `node:http`.
    const isTaken = given.bodyUsed || given.body?.locked === true
    this.headers = headersOf(given, host)
    if (isTaken) Object.defineProperty(this, 'readableEnded', { value: true })
    else this.#reader = given.body?.getReader()
    socket.once('close', () => this.destroy())
  }

  override _read(): void {
    if (this.#reader === undefined) this.#end()
    else void this.#pull(this.#reader)
  }

  async #pull(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    try {
      const { done, value } = await reader.read()
      if (done) this.#end()
      else if (value.length === 0) await this.#pull(reader)
      else this.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
    } catch (cause) {
      this.destroy(cause instanceof Error ? cause : new Error(String(cause)))
    }
  }

  #end(): void {
    this.complete = true
    this.push(null)
  }

  override _destroy(cause: Error | null, done: (cause: Error | null) => void): void {
    if (!this.complete && !this.aborted) {
      this.aborted = true
      this.emit('aborted')
      this.#reader?.cancel(cause ?? undefined).catch(() => undefined)
    }
    // As in `node:http`: a request whose peer left is an error for those who read it only.
    done(this.listenerCount('error') > 0 ? cause : null)
  }
}

/** A request over HTTP says that it has a body; one that was made in code may not. */
function headersOf({ headers, body }: Request, host: string): Readonly<Record<string, string>> {
  const entries: Record<string, string> = { host }
  for (const [name, value] of headers) entries[name] = value
  const isAnnounced = 'content-length' in entries || 'transfer-encoding' in entries
  if (body !== null && !isAnnounced) entries['transfer-encoding'] = 'chunked'
  return entries
}
