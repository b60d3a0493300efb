import { EditError, type EditUsage } from '../contract.ts'
import type { Message } from '../prompt/messages.ts'
import { readChunk, readErrorCode, type Chunk } from './chunk.ts'
import { streamFailure } from './failures.ts'

export interface ChatAnswer {
  readonly model: string
  readonly text: string
  readonly usage: EditUsage
}

/** What has arrived of one answer. */
export class Reading {
  readonly #onText: (text: string) => void
  #text = ''
  #model: string | undefined
  #finish: string | undefined
  #usage: Chunk['usage']

  constructor(onText: (text: string) => void) {
    this.#onText = onText
  }

  /** Whether the server said that this was all. */
  takeAll(events: readonly string[]): boolean {
    for (const event of events) {
      if (event.trim() === '[DONE]') return true
      this.#take(event)
    }
    return false
  }

  #take(event: string): void {
    const code = readErrorCode(event)
    if (code !== undefined) throw streamFailure(code)
    const chunk = readChunk(event)
    if (chunk === undefined) {
      throw new EditError('model_answer_invalid', { internal: 'a chunk is malformed' })
    }
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

/** The ends that are not the answer's own. */
const FINISHES: Readonly<Record<string, 'model_answer_cut' | 'model_refused'>> = {
  length: 'model_answer_cut',
  max_tokens: 'model_answer_cut',
  content_filter: 'model_refused',
}

/** About four characters are a token. */
function estimate(length: number): number {
  return Math.ceil(length / 4)
}
