import type { Clock } from '../../../lib/engine/ports.ts'
import type { Millis } from '../../../lib/time.ts'
import { abortError, EditError } from '../contract.ts'
import { readErrorCode } from './chunk.ts'
import { connectionFailure, readWait, statusFailure, Unanswered } from './failures.ts'
import type { Ask, AskAnswer } from './port.ts'

export interface ExchangeSettings {
  readonly ask: Ask
  readonly clock: Pick<Clock, 'now' | 'after'>
  /** From the question to the first byte of the answer's body. */
  readonly firstByte: Millis
  /** From one byte to the next. */
  readonly idle: Millis
}

/** An answer whose first byte has come. */
export interface Opened {
  readonly isStream: boolean
  /**
   * The next bytes; undefined at the end.
   *
   * @throws EditError `model_unavailable` when it breaks off or falls silent, or what the signal says
   */
  next(): Promise<Uint8Array | undefined>
  /** Ends the exchange, whatever is left of it. */
  close(): void
}

const MAX_ERROR_BODY = 16_384

/**
 * Asks once, up to the first byte.
 *
 * @throws Unanswered when there is none, or a status other than 200
 * @throws EditError for what the signal says
 */
export async function openExchange(
  request: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  body: Uint8Array,
  signal: AbortSignal,
  settings: ExchangeSettings,
): Promise<Opened> {
  const stop = new AbortController()
  const both = AbortSignal.any([signal, stop.signal])
  const inTime = <T>(limit: Millis, work: () => Promise<T>): Promise<T> =>
    within(settings.clock, limit, both, stop, work)
  try {
    return await inTime(settings.firstByte, async () => {
      const answer = await settings.ask({ ...request, body, signal: both })
      const bytes = answer.body[Symbol.asyncIterator]()
      if (answer.status !== 200) {
        const wait = readWait(answer.headers['retry-after'], settings.clock.now())
        throw statusFailure(answer.status, await readError(bytes), wait)
      }
      const first = await bytes.next()
      return {
        isStream: isStream(answer),
        next: following(first, () => inTime(settings.idle, () => bytes.next()), signal),
        close: () => stop.abort(),
      }
    })
  } catch (error) {
    stop.abort()
    if (signal.aborted) throw abortError(signal)
    throw error instanceof Unanswered ? error : connectionFailure(error)
  }
}

/** Plain JSON comes from servers that do not stream. */
function isStream({ headers }: AskAnswer): boolean {
  return !/^application\/json\b/i.test(headers['content-type'] ?? '')
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

async function readError(bytes: AsyncIterator<Uint8Array>): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (let part = await bytes.next(); part.done !== true; part = await bytes.next()) {
      chunks.push(part.value)
      size += part.value.length
      if (size > MAX_ERROR_BODY) break
    }
  } catch {
    // The status alone has to do.
  }
  return readErrorCode(Buffer.concat(chunks).toString('utf8'))
}

/** Runs a step that must end in time; whatever ends it early stops the exchange. */
async function within<T>(
  clock: Pick<Clock, 'after'>,
  limit: Millis,
  signal: AbortSignal,
  stop: AbortController,
  work: () => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw abortError(signal)
  let abort = (): void => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(abortError(signal))
  })
  signal.addEventListener('abort', abort, { once: true })
  const cancel = clock.after(limit, () => {
    stop.abort(new EditError('model_unavailable', { internal: 'nothing came in time' }))
  })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    cancel()
    signal.removeEventListener('abort', abort)
  }
}
