/**
 * An editor over any server that speaks OpenAI's chat completions.
 *
 * @module
 */
import type { Clock, RandomBytes } from '../../lib/engine/ports.ts'
import type {
  EditOutcome,
  Editor,
  EditProgress,
  EditTask,
  EditTools,
  EditUsage,
} from './contract.ts'
import { EditError } from './contract.ts'
import { Ending, underSignal } from './ending.ts'
import { chat, type ChatSettings } from './openai/chat.ts'
import { DEFAULT_LIMITS, type OpenAiEditorLimits } from './openai/limits.ts'
import type { Ask } from './openai/port.ts'
import { Pulse } from './openai/pulse.ts'
import { writeFiles } from './prompt/context.ts'
import { instructions, type AnswerFormat } from './prompt/instructions.ts'
import { writeMessages } from './prompt/messages.ts'
import { writePassages } from './prompt/passages.ts'
import { carryOutInRounds } from './rounds.ts'

export type { OpenAiEditorLimits } from './openai/limits.ts'
export type { Ask } from './openai/port.ts'

export interface OpenAiEditorOptions {
  /** Where the API begins, such as `https://models.example.com/v1`; without it nothing is available. */
  readonly baseUrl: string | undefined
  /** Sent as a bearer token; default none. */
  readonly apiKey?: string | undefined
  /** The model for tasks that name none; without it nothing is available. */
  readonly model: string | undefined
  readonly ask: Ask
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly random: RandomBytes
  /** Default: `auto`. */
  readonly format?: AnswerFormat
  /** Sent as `max_tokens`; default: the server's own limit. */
  readonly maxOutputTokens?: number
  readonly limits?: Partial<OpenAiEditorLimits>
}

const MOST_SUMMARY = 200
const MOST_QUERY = 1000

/**
 * Creates an editor that asks a language model. It keeps nothing between edits.
 *
 * @example
 * const editor = createOpenAiEditor({
 *   baseUrl: 'http://127.0.0.1:11434/v1', model: 'qwen3', ask, clock, random: randomBytes,
 * })
 */
export function createOpenAiEditor(options: OpenAiEditorOptions): Editor {
  const { baseUrl, model, clock, random, format = 'auto' } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const ending = new Ending()
  const isConfigured = (baseUrl ?? '') !== '' && (model ?? '') !== ''
  const settings: ChatSettings = {
    ...limits,
    ask: options.ask,
    clock,
    random,
    baseUrl: baseUrl ?? '',
    apiKey: options.apiKey,
    maxOutputTokens: options.maxOutputTokens,
    maxBytes: limits.answer,
  }

  async function edit(task: EditTask, tools: EditTools): Promise<EditOutcome> {
    const { signal } = tools
    const files = await writeFiles(task, tools, limits)
    const found = await tools.passages(task.prompt.slice(0, MOST_QUERY), limits.passages)
    const first = writeMessages({
      instructions: instructions(format),
      files,
      passages: writePassages(found, random, limits.passageText),
      prompt: task.prompt,
      initial: task.initial,
    })
    let usage: EditUsage = NO_USAGE
    let answered = task.model ?? model ?? ''
    const asked = answered
    const rounds = await carryOutInRounds(
      first,
      async (messages, onText) => {
        const answer = await chat({ model: asked, messages }, signal, settings, onText)
        usage = sum(usage, answer.usage)
        answered = answer.model
        return answer.text
      },
      tools,
    )
    const { operations, repaired } = rounds
    tools.progress({ stage: 'applying', done: operations.length, total: operations.length })
    const summary = oneLine(rounds.summary ?? `Changes: ${operations.length}`)
    return { operations, summary, model: answered, usage, repaired }
  }

  return {
    available: isConfigured,
    async carryOut(task, tools) {
      if (!isConfigured) throw new EditError('model_not_configured')
      const late = new AbortController()
      const cancelDeadline = clock.after(limits.edit, () => late.abort(new EditError('deadline')))
      const pulse = new Pulse(tools, clock, limits.heartbeat)
      const progress = (report: EditProgress): void => pulse.tell(report)
      try {
        return await ending.run(AbortSignal.any([tools.signal, late.signal]), (signal) =>
          edit(task, underSignal(tools, signal, progress)),
        )
      } finally {
        pulse.stop()
        cancelDeadline()
      }
    },
    close: () => ending.close(),
  }
}

const NO_USAGE: EditUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  estimated: false,
}

function sum(a: EditUsage, b: EditUsage): EditUsage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cached_tokens: a.cached_tokens + b.cached_tokens,
    estimated: a.estimated || b.estimated,
  }
}

function oneLine(text: string): string {
  const said = text
    .slice(0, 1000)
    .replace(/^\W*SUMMARY\W*[:-]\W*/i, '')
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
  const cut = said.trim().slice(0, MOST_SUMMARY)
  return cut.replace(/[\uD800-\uDBFF]$/, '') || 'Changes'
}
