import type { Clock } from '../../../lib/engine/ports.ts'
import { orAborted } from '../../../lib/internal/until-aborted.ts'
import type { Millis } from '../../../lib/time.ts'
import { readFailure, statusOnly } from '../../openai-client.ts'
import { abortError, EditError } from '../contract.ts'
import { requestFailure, Unanswered } from './failures.ts'

export interface ExchangeSettings {
  readonly clock: Pick<Clock, 'now' | 'after'>
  /** From the request to the first byte of the response's body. */
  readonly firstByte: Millis
  /** From one byte to the next. */
  readonly idle: Millis
}

/** A response whose first byte has arrived. */
export interface Opened {
  readonly isStream: boolean
  /**
   * The next bytes; undefined at the end.
   *
   * @throws EditError `model_unavailable` when it breaks off or stalls, or the reason of the signal
   */
  next(): Promise<Uint8Array | undefined>
  /** Ends the exchange, also before the end of the response. */
  close(): void
}

/**
 * Sends a request once, up to the first byte of its response.
 *
 * @throws Unanswered when there is none, or a status other than 200
 * @throws EditError for the reason of the signal
 */
export async function openExchange(
  send: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal,
  settings: ExchangeSettings,
): Promise<Opened> {
  const stop = new AbortController()
  const both = AbortSignal.any([signal, stop.signal])
  const inTime = <T>(limit: Millis, work: () => Promise<T>): Promise<T> =>
    within(settings.clock, limit, both, stop, work)
  try {
    return await inTime(settings.firstByte, async () => {
      const response = await send(both)
      const { status, body } = response
      if (status !== 200 || body === null) {
        throw requestFailure(statusOnly(status))
      }
      const bytes = body[Symbol.asyncIterator]()
      const first = await bytes.next()
      return {
        isStream: isStream(response),
        next: following(first, () => inTime(settings.idle, () => bytes.next()), signal),
        close: () => stop.abort(),
      }
    })
  } catch (error) {
    stop.abort()
    if (signal.aborted) throw abortError(signal)
    if (error instanceof Unanswered) throw error
    throw requestFailure(readFailure(error, settings.clock.now()))
  }
}

/** Servers that do not stream answer with JSON. */
function isStream({ headers }: Response): boolean {
  return !/^application\/json\b/i.test(headers.get('content-type') ?? '')
}

function following(
  first: IteratorResult<Uint8Array, unknown>,
  read: () => Promise<IteratorResult<Uint8Array, unknown>>,
  signal: AbortSignal,
): () => Promise<Uint8Array | undefined> {
  let held: IteratorResult<Uint8Array, unknown> | undefined = first
  return async () => {
    try {
      const result = held ?? (await read())
      held = undefined
      return result.done === true ? undefined : result.value
    } catch (error) {
      if (signal.aborted) throw abortError(signal)
      if (error instanceof EditError) throw error
      throw new EditError('model_unavailable', { internal: 'the answer broke off' })
    }
  }
}

/** Runs a step under a deadline; whatever ends it early stops the exchange. */
async function within<T>(
  clock: Pick<Clock, 'after'>,
  limit: Millis,
  signal: AbortSignal,
  stop: AbortController,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const cancel = clock.after(limit, () => {
    stop.abort(new EditError('model_unavailable', { internal: 'nothing came in time' }))
  })
  try {
    return await orAborted(work(), signal)
  } finally {
    cancel()
  }
}
