import type { Stripe } from 'stripe'
import type { Clock } from '../../../lib/engine/ports.ts'
import { isObject } from '../../../lib/internal/arguments.ts'
import { ProcessorError, type ProcessorPorts } from '../contract.ts'

type HttpClient = NonNullable<Stripe.StripeConfig['httpClient']>
type Request = Parameters<HttpClient['makeRequest']>
type Answer = Awaited<ReturnType<HttpClient['makeRequest']>>

/** Request headers of the library that are sent: it adds others that describe the machine. */
const SENT_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'idempotency-key',
  'stripe-version',
] as const
/** Response headers that the library sees: others make it print warnings or retry by itself. */
const READ_HEADERS = ['request-id', 'idempotent-replayed'] as const
const USER_AGENT = 'Keyhook'
/** Names the call of a request. It is not sent: the library passes no signal on. */
export const CALL_HEADER = 'Keyhook-Call'

/** The library's HTTP client, over the guarded `fetch`. */
export class GuardedClient implements HttpClient {
  readonly #send: ProcessorPorts['fetch']
  readonly #clock: Pick<Clock, 'after'>
  readonly #closing = new AbortController()
  readonly #signals = new Map<string, AbortSignal>()
  #calls = 0

  constructor({ fetch, clock }: Pick<ProcessorPorts, 'fetch' | 'clock'>) {
    this.#send = fetch
    this.#clock = clock
  }

  getClientName(): string {
    return 'keyhook'
  }

  /**
   * Runs calls of the library that name themselves by these headers: the signal ends their exchanges.
   *
   * @throws ProcessorError `unavailable` once this is closed; the reason of the signal
   */
  async under<T>(
    signal: AbortSignal,
    run: (headers: Readonly<Record<string, string>>, both: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const both = AbortSignal.any([signal, this.#closing.signal])
    both.throwIfAborted()
    this.#calls += 1
    const id = String(this.#calls)
    this.#signals.set(id, both)
    try {
      return await run({ [CALL_HEADER]: id }, both)
    } catch (error) {
      both.throwIfAborted()
      throw error
    } finally {
      this.#signals.delete(id)
    }
  }

  async makeRequest(...request: Request): Promise<Answer> {
    const [host, port, path, method, given, data, protocol, timeout] = request
    const headers = new Headers(Object.entries(given).map(([name, value]) => [name, String(value)]))
    const late = new AbortController()
    const cancel = this.#clock.after(timeout, () =>
      late.abort(new Error(`no answer in ${timeout} ms`)),
    )
    const ends = [
      late.signal,
      this.#closing.signal,
      this.#signals.get(headers.get(CALL_HEADER) ?? ''),
    ]
    try {
      const response = await this.#send(`${protocol}://${host}:${port}${path}`, {
        method,
        headers: sentOf(headers),
        ...(method === 'GET' ? {} : { body: String(data) }),
        signal: AbortSignal.any(ends.filter((signal) => signal !== undefined)),
      })
      // Read here, so that the timeout covers it.
      return answerOf(response, await response.text())
    } catch (cause) {
      throw connectionError(cause, late.signal)
    } finally {
      cancel()
    }
  }

  close(): void {
    this.#closing.abort(new ProcessorError('unavailable', { internal: 'it is closed' }))
  }
}

function sentOf(given: Headers): [string, string][] {
  const sent = SENT_HEADERS.flatMap((name) => {
    const value = given.get(name)
    return value === null ? [] : [[name, value] as [string, string]]
  })
  return [...sent, ['user-agent', USER_AGENT]]
}

function answerOf({ status, headers: given }: Response, text: string): Answer {
  const headers: Record<string, string> = {}
  for (const name of READ_HEADERS) {
    const value = given.get(name)
    if (value !== null) headers[name] = value
  }
  return {
    getStatusCode: () => status,
    getHeaders: () => headers,
    getRawResponse: () => ({}),
    toStream: () => {
      throw new TypeError('not supported')
    },
    toJSON: async () => bodyOf(status, JSON.parse(text)),
  }
}

/** The library takes a response for a success whose body names no error, whatever its status. */
function bodyOf(status: number, body: unknown): unknown {
  const isSuccess = status >= 200 && status < 300
  if (!isObject(body) || (!isSuccess && !isObject(body['error']))) {
    return { error: { type: 'api_error' } }
  }
  return body
}

/** A code that the library does not retry by itself. */
function connectionError(cause: unknown, late: AbortSignal): Error {
  const isFinal = cause instanceof Error && 'final' in cause && cause.final === true
  const why = cause instanceof Error && 'internal' in cause ? String(cause.internal) : 'failed'
  const internal = late.aborted ? String((late.reason as Error).message) : why
  return Object.assign(new Error('no answer'), { code: 'EGUARD', final: isFinal, internal })
}
