/**
 * An editor over a server that speaks OpenAI's chat completions.
 *
 * @module
 */
import type { Clock, RandomBytes } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { createModelClient, type ModelServer } from '../openai-client.ts'
import type {
  EditOutcome,
  Editor,
  EditProgress,
  EditTask,
  EditTools,
  EditUsage,
} from './contract.ts'
import { EditError } from './contract.ts'
import { Heartbeat, Running, underSignal } from './running.ts'
import { chat, type ChatSettings } from './openai/chat.ts'
import { type ContextLimits, writeFiles, writePassages } from './prompt/context.ts'
import { type AnswerFormat, instructions, writeMessages } from './prompt/messages.ts'
import { runRounds } from './rounds.ts'

export interface OpenAiEditorOptions extends Omit<ModelServer, 'baseUrl'> {
  /** Base URL of the API, such as `https://models.example.com/v1`; without it the editor is unavailable. */
  readonly baseUrl: string | undefined
  /** Model for tasks that name none; without it the editor is unavailable. */
  readonly model: string | undefined
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly random: RandomBytes
  /** Default: `auto`. */
  readonly format?: AnswerFormat
  /** Sent as `max_tokens`; default: the server's own limit. */
  readonly maxOutputTokens?: number
  readonly limits?: Partial<OpenAiEditorLimits>
}

export interface OpenAiEditorLimits extends ContextLimits {
  /** Maximum passages; default 8. */
  readonly passages: number
  /** Maximum characters of all passages; default 16,000. */
  readonly passageText: number
  /** Maximum bytes of one response; default 16 MiB. */
  readonly answer: number
  /** For the whole edit; default 10 min. */
  readonly edit: Millis
  /** From a request to the first byte of its response; default 2 min. */
  readonly firstByte: Millis
  /** From one byte of a response to the next; default 1 min. */
  readonly idle: Millis
  /** Retries of a request without any response; default 2. */
  readonly retries: number
  /** Maximum wait before a retry; default 1 min. */
  readonly maxWait: Millis
  /** Interval in which progress is repeated; default 10 s. */
  readonly heartbeat: Millis
}

const DEFAULT_LIMITS: OpenAiEditorLimits = {
  files: 200_000,
  wholeFile: 32_768,
  prompt: 32_768,
  passages: 8,
  passageText: 16_000,
  answer: 16 * 1024 * 1024,
  edit: 600_000,
  firstByte: 120_000,
  idle: 60_000,
  retries: 2,
  maxWait: 60_000,
  heartbeat: 10_000,
}

const MAX_SUMMARY = 200
const MAX_QUERY = 1000

/**
 * Creates an editor that prompts a language model. It keeps nothing between edits.
 *
 * @example
 * const editor = createOpenAiEditor({
 *   baseUrl: 'http://127.0.0.1:11434/v1', model: 'qwen3', fetch, clock, random: randomBytes,
 * })
 */
export function createOpenAiEditor(options: OpenAiEditorOptions): Editor {
  const { baseUrl = '', model = '', clock, random, format = 'auto', maxOutputTokens } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const running = new Running()
  const isConfigured = baseUrl !== '' && model !== ''
  const client = createModelClient({ ...options, baseUrl })
  const settings: ChatSettings = {
    ...limits,
    client,
    clock,
    random,
    maxOutputTokens,
    maxBytes: limits.answer,
  }

  async function edit(task: EditTask, tools: EditTools): Promise<EditOutcome> {
    const { signal } = tools
    const files = await writeFiles(task, tools, limits)
    const found = await tools.passages(task.prompt.slice(0, MAX_QUERY), limits.passages)
    const first = writeMessages({
      instructions: instructions(format),
      files,
      passages: writePassages(found, random, limits.passageText),
      prompt: task.prompt,
      initial: task.initial,
    })
    let usage: EditUsage = NO_USAGE
    const requested = task.model ?? model
    let answered = requested
    const rounds = await runRounds(
      first,
      async (messages, onText) => {
        const answer = await chat({ model: requested, messages }, signal, settings, onText)
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
      const heartbeat = new Heartbeat(tools, clock, limits.heartbeat)
      const progress = (report: EditProgress): void => heartbeat.report(report)
      try {
        return await running.run(AbortSignal.any([tools.signal, late.signal]), (signal) =>
          edit(task, underSignal(tools, signal, progress)),
        )
      } finally {
        heartbeat.stop()
        cancelDeadline()
      }
    },
    close: () => running.close(),
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
  const cut = said.trim().slice(0, MAX_SUMMARY)
  return cut.replace(/[\uD800-\uDBFF]$/, '') || 'Changes'
}
