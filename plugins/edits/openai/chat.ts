import type { OpenAI } from 'openai'
import pRetry from 'p-retry'
import type { Clock, RandomBytes } from '../../../lib/engine/ports.ts'
import type { Millis } from '../../../lib/time.ts'
import { abortError, EditError } from '../contract.ts'
import type { Message } from '../prompt/messages.ts'
import { AnswerReader, EventReader, type ChatAnswer } from './answer.ts'
import { openExchange, type ExchangeSettings, type Opened } from './exchange.ts'
import { Unanswered } from './failures.ts'

export interface ChatSettings extends ExchangeSettings {
  readonly client: OpenAI
  readonly maxOutputTokens: number | undefined
  /** Retries of a request that was not answered by a single byte. */
  readonly retries: number
  /** Maximum wait before a retry; a server that asks for more is not asked again. */
  readonly maxWait: Millis
  /** Maximum bytes of one response. */
  readonly maxBytes: number
  readonly random: RandomBytes
}

interface Question {
  readonly model: string
  readonly messages: readonly Message[]
}

const FIRST_WAIT: Millis = 500

/**
 * Requests one answer and passes its text on as it arrives.
 *
 * @throws EditError when the answer is not complete
 */
export async function chat(
  question: Question,
  signal: AbortSignal,
  settings: ChatSettings,
  onText: (text: string) => void,
): Promise<ChatAnswer> {
  const opened = await openWithRetries(question, signal, settings)
  try {
    const reader = new AnswerReader(onText)
    await read(opened, reader, settings.maxBytes)
    return reader.answer(question)
  } finally {
    opened.close()
  }
}

/**
 * The raw response: the library's own reader of streams copies what it holds with every chunk, and has no
 * limit.
 */
function request(
  { model, messages }: Question,
  { client, maxOutputTokens }: ChatSettings,
  signal: AbortSignal,
): Promise<Response> {
  return client.chat.completions
    .create(
      {
        model,
        messages: [...messages],
        ...(maxOutputTokens === undefined ? {} : { max_tokens: maxOutputTokens }),
        stream: true,
        stream_options: { include_usage: true },
      },
      { signal, headers: { accept: 'text/event-stream' } },
    )
    .asResponse()
}

/** Only before the first byte: an answer that has begun is paid for, and not requested twice. */
async function openWithRetries(
  question: Question,
  signal: AbortSignal,
  settings: ChatSettings,
): Promise<Opened> {
  const { retries, maxWait, random, clock } = settings
  const send = (both: AbortSignal): Promise<Response> => request(question, settings, both)
  try {
    return await pRetry(() => openExchange(send, signal, settings), {
      retries,
      // The waits are ours: by the injected clock, and as long as the server asks.
      minTimeout: 0,
      async shouldRetry({ error, attemptNumber }) {
        if (!(error instanceof Unanswered) || error.isFinal) return false
        const wait = error.wait ?? jittered(FIRST_WAIT * 2 ** (attemptNumber - 1), random)
        if (wait > maxWait) return false
        await pause(wait, signal, clock)
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

async function read(opened: Opened, reader: AnswerReader, maxBytes: number): Promise<void> {
  const events = new EventReader()
  const whole: Uint8Array[] = []
  let size = 0
  for (let bytes = await opened.next(); bytes !== undefined; bytes = await opened.next()) {
    size += bytes.length
    if (size > maxBytes) throw new EditError('answer_too_large')
    if (!opened.isStream) whole.push(bytes)
    else if (reader.takeAll(eventsOf(() => events.push(bytes)))) return
  }
  if (opened.isStream) reader.takeAll(eventsOf(() => events.end()))
  else reader.takeAll([Buffer.concat(whole).toString('utf8')])
}

function eventsOf(read: () => readonly string[]): readonly string[] {
  try {
    return read()
  } catch (cause) {
    throw new EditError('model_answer_invalid', { internal: 'the stream is malformed', cause })
  }
}
