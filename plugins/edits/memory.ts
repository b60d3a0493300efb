import {
  FUNCTION,
  OBJECT,
  TEXT,
  declareArguments,
  optional,
  optionsOf,
  recordOf,
} from '../../lib/internal/arguments.ts'
import type { EditOperation, EditOutcome, Editor, EditTask, EditTools } from './contract.ts'
import { EditError } from './contract.ts'
import { Running, underSignal } from './running.ts'

/** Maps a prompt to operations. */
export type EditScript = (
  task: EditTask,
  tools: EditTools,
) => readonly EditOperation[] | Promise<readonly EditOperation[]>

export interface MemoryEditorOptions {
  /** Default: `readPrompt`. */
  readonly script?: EditScript
}

/** A prompt that `readPrompt` never settles: only an abort ends it. */
export const ENDLESS_PROMPT = 'wait'

const NO_USAGE = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, estimated: false }

const readEditor = declareArguments('createMemoryEditor', {
  options: optionsOf({ script: optional(FUNCTION) }),
})
const readTask = declareArguments('readPrompt', {
  task: recordOf({ prompt: TEXT }),
  tools: optional(OBJECT),
})

/**
 * Creates a scripted editor without a model, for tests and for trying the platform.
 *
 * @example
 * const editor = createMemoryEditor()
 * const prompt = JSON.stringify([{ op: 'delete', path: 'old.html' }])
 * const { operations } = await editor.carryOut({ ...task, prompt }, tools)
 */
export function createMemoryEditor(...args: readonly [options?: MemoryEditorOptions]): Editor {
  const [{ script = readPrompt } = {}] = readEditor(args) as typeof args
  const running = new Running()

  async function edit(task: EditTask, tools: EditTools): Promise<EditOutcome> {
    tools.progress({ stage: 'asking', done: 0, total: 1 })
    const operations = await script(task, tools)
    if (operations.length === 0) throw new EditError('model_answer_invalid')
    const faults = await tools.check(operations)
    if (faults.length > 0) throw new EditError('patch_not_applied')
    tools.progress({ stage: 'applying', done: 1, total: 1 })
    return {
      operations,
      summary: `Operations: ${operations.length}`,
      model: task.model ?? 'script',
      usage: NO_USAGE,
      repaired: false,
    }
  }

  return {
    available: true,
    carryOut: (task, tools) =>
      running.run(tools.signal, (signal) => edit(task, underSignal(tools, signal))),
    close: () => running.close(),
  }
}

/**
 * Reads the prompt as a JSON array of operations.
 *
 * @throws EditError `model_answer_invalid` when it is neither that nor `ENDLESS_PROMPT`
 */
export function readPrompt(
  ...args: readonly [task: EditTask, tools?: EditTools]
): ReturnType<EditScript> {
  readTask(args)
  const [{ prompt }] = args
  if (prompt === ENDLESS_PROMPT) return new Promise(() => undefined)
  try {
    const read: unknown = JSON.parse(prompt)
    if (Array.isArray(read)) return read as EditOperation[]
  } catch {
    // Thrown below.
  }
  throw new EditError('model_answer_invalid')
}
