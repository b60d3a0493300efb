import pRetry from 'p-retry'
import type { Clock, RandomBytes } from '../../../lib/engine/ports.ts'
import type { Millis } from '../../../lib/time.ts'
import { abortError, EditError } from '../contract.ts'
import type { Message } from '../prompt/messages.ts'
import { EventReader } from './events.ts'
import { openExchange, type ExchangeSettings, type Opened } from './exchange.ts'
import { Unanswered } from './failures.ts'
import { Reading, type ChatAnswer } from './reading.ts'

export interface ChatSettings extends ExchangeSettings {
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly maxOutputTokens: number | undefined
  /** How often a question is asked again that was not answered by a single byte. */
  readonly retries: number
  /** The longest wait before that; a server that asks for more is not asked again. */
  readonly maxWait: Millis
  /** The most bytes of one answer, all that the protocol adds included. */
  readonly maxBytes: number
  readonly random: RandomBytes
}

const FIRST_WAIT: Millis = 500

/**
 * Asks for one answer and gives its text away as it comes.
 *
 * @throws EditError for whatever keeps the answer from being whole
 */
export async function chat(
  question: { readonly model: string; readonly messages: readonly Message[] },
  signal: AbortSignal,
  settings: ChatSettings,
  onText: (text: string) => void,
): Promise<ChatAnswer> {
  const opened = await openWithRetries(layOut(question, settings), signal, settings)
  try {
    const reading = new Reading(onText)
    await read(opened, reading, settings.maxBytes)
    return reading.answer(question)
  } finally {
    opened.close()
  }
}

function layOut(question: object, { maxOutputTokens }: ChatSettings): Uint8Array {
  const limit = maxOutputTokens === undefined ? {} : { max_tokens: maxOutputTokens }
  const asked = { ...question, ...limit, stream: true, stream_options: { include_usage: true } }
  return Buffer.from(JSON.stringify(asked))
}

/** Only before the first byte: what has begun to arrive is paid for, and not asked for twice. */
async function openWithRetries(
  body: Uint8Array,
  signal: AbortSignal,
  settings: ChatSettings,
): Promise<Opened> {
  const { baseUrl, apiKey, retries, maxWait } = settings
  const request = {
    url: `${baseUrl.replace(/\/+$/, '')}/chat/completions`,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
  }
  try {
    return await pRetry(() => openExchange(request, body, signal, settings), {
      retries,
      // The waits are ours: by the clock that was handed in, and as long as the server asks.
      minTimeout: 0,
      async shouldRetry({ error, attemptNumber }) {
        if (!(error instanceof Unanswered) || error.isFinal) return false
        const wait = error.wait ?? jittered(FIRST_WAIT * 2 ** (attemptNumber - 1), settings.random)
        if (wait > maxWait) return false
        await pause(wait, signal, settings.clock)
        return true
      },
    })
  } catch (error) {
    throw error instanceof Unanswered ? error.failure : error
  }
}

/** Up to half as long again. */
function jittered(wait: Millis, random: RandomBytes): Millis {
  return Math.round(wait * (1 + (random(1)[0] ?? 0) / 510))
}

function pause(wait: Millis, signal: AbortSignal, clock: Pick<Clock, 'after'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel()
      reject(abortError(signal))
    }
    const cancel = clock.after(wait, () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}

async function read(opened: Opened, reading: Reading, maxBytes: number): Promise<void> {
  const events = new EventReader()
  const whole: Uint8Array[] = []
  let size = 0
  for (let bytes = await opened.next(); bytes !== undefined; bytes = await opened.next()) {
    size += bytes.length
    if (size > maxBytes) throw new EditError('answer_too_large')
    if (!opened.isStream) whole.push(bytes)
    else if (reading.takeAll(eventsOf(() => events.push(bytes)))) return
  }
  if (opened.isStream) reading.takeAll(eventsOf(() => events.end()))
  else reading.takeAll([Buffer.concat(whole).toString('utf8')])
}

function eventsOf(read: () => readonly string[]): readonly string[] {
  try {
    return read()
  } catch (cause) {
    throw new EditError('model_answer_invalid', { internal: 'an event is too long', cause })
  }
}
