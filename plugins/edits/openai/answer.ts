import { createParser, type ParseError } from 'eventsource-parser'
import { z } from 'zod'
import { EditError, type EditUsage } from '../contract.ts'
import type { Message } from '../prompt/messages.ts'
import { streamFailure } from './failures.ts'

/** Maximum characters of one event; a server that sends more does not speak the protocol. */
const MAX_EVENT = 1_048_576
/** Maximum lines with a field that the protocol does not know: the parser makes an error of each. */
const MAX_UNKNOWN_LINES = 1000

/** Reads server-sent events as they arrive, however they are cut: the data of each. */
export class EventReader {
  readonly #decoder = new TextDecoder()
  readonly #parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: ({ data }) => this.#take(data),
    onError: (error) => this.#refuse(error),
  })
  #events: string[] = []
  #unknownLines = 0

  /**
   * The data of the events that these bytes complete.
   *
   * @throws Error for an event of more than `MAX_EVENT` characters, or too many unknown lines
   */
  push(bytes: Uint8Array): readonly string[] {
    return this.#feed(this.#decoder.decode(bytes, { stream: true }))
  }

  /** What is left at the end of the stream: some servers omit the last blank line. */
  end(): readonly string[] {
    return this.#feed(`${this.#decoder.decode()}\n\n`)
  }

  #feed(text: string): readonly string[] {
    this.#events = []
    this.#parser.feed(text)
    return this.#events
  }

  /** The parser counts what it holds between chunks, not an event that one chunk completes. */
  #take(data: string): void {
    if (data.length > MAX_EVENT) throw new RangeError('an event is too long')
    this.#events.push(data)
  }

  #refuse(error: ParseError): void {
    this.#unknownLines += 1
    const isTooLong = error.type === 'max-buffer-size-exceeded'
    if (isTooLong || this.#unknownLines > MAX_UNKNOWN_LINES) throw error
  }
}

const text = z.string().nullish()
const count = z.number().int().nonnegative().nullish()

/** A part of a streamed answer, or a whole one. */
const chunkSchema = z.object({
  model: text,
  choices: z
    .array(
      z.object({
        finish_reason: text,
        delta: z.object({ content: text, refusal: text }).nullish(),
        message: z.object({ content: text, refusal: text }).nullish(),
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
    })
    .nullish(),
})

const errorSchema = z.object({
  error: z.object({ code: z.unknown(), type: z.unknown() }).partial(),
})

type Chunk = z.infer<typeof chunkSchema>

/** @throws EditError for an error in place of a chunk, and for anything else that is no chunk */
function readChunk(json: string): Chunk {
  const value = parse(json)
  const failed = errorSchema.safeParse(value)
  if (failed.success) {
    const { code, type } = failed.data.error
    throw streamFailure([code, type].find((one) => typeof one === 'string'))
  }
  const chunk = chunkSchema.safeParse(value)
  if (chunk.success) return chunk.data
  throw new EditError('model_answer_invalid', { internal: 'a chunk is malformed' })
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

export interface ChatAnswer {
  readonly model: string
  readonly text: string
  readonly usage: EditUsage
}

/** What has arrived of one answer. */
export class AnswerReader {
  readonly #onText: (text: string) => void
  #text = ''
  #model: string | undefined
  #finish: string | undefined
  #usage: Chunk['usage']

  constructor(onText: (text: string) => void) {
    this.#onText = onText
  }

  /** Whether the server ended the answer. */
  takeAll(events: readonly string[]): boolean {
    for (const event of events) {
      if (event.trim() === '[DONE]') return true
      this.#take(readChunk(event))
    }
    return false
  }

  #take(chunk: Chunk): void {
    this.#model ??= chunk.model ?? undefined
    this.#usage = chunk.usage ?? this.#usage
    const choice = chunk.choices?.[0]
    const said = choice?.delta ?? choice?.message
    if (said?.refusal) throw new EditError('model_refused')
    this.#finish = choice?.finish_reason ?? this.#finish
    if (said?.content) {
      this.#text += said.content
      this.#onText(said.content)
    }
  }

  /** @throws EditError when the answer broke off, was cut, or was refused */
  answer(question: { readonly model: string; readonly messages: readonly Message[] }): ChatAnswer {
    if (this.#finish === undefined) {
      throw new EditError('model_unavailable', { internal: 'the answer broke off' })
    }
    const code = FINISHES[this.#finish]
    if (code !== undefined) throw new EditError(code)
    return { model: this.#model ?? question.model, text: this.#text, usage: this.#count(question) }
  }

  #count({ messages }: { readonly messages: readonly Message[] }): EditUsage {
    const { prompt_tokens: input, completion_tokens: output } = this.#usage ?? {}
    const given = messages.reduce((length, { content }) => length + content.length, 0)
    const input_tokens = input ?? estimate(given)
    const cached = this.#usage?.prompt_tokens_details?.cached_tokens ?? 0
    return {
      input_tokens,
      output_tokens: output ?? estimate(this.#text.length),
      cached_tokens: Math.min(cached, input_tokens),
      estimated: typeof input !== 'number' || typeof output !== 'number',
    }
  }
}

/** Finish reasons other than the end of the answer. */
const FINISHES: Readonly<Record<string, 'model_answer_cut' | 'model_refused'>> = {
  length: 'model_answer_cut',
  max_tokens: 'model_answer_cut',
  content_filter: 'model_refused',
}

/** A token has about four characters. */
function estimate(length: number): number {
  return Math.ceil(length / 4)
}
