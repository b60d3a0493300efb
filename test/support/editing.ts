import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { openModelServer } from '../../daemon/composition/model-server.ts'
import { BASE, createWorld, sampleTask } from '../../plugins/edits/conformance/world.ts'
import type { EditOperation, EditTask, EditTools } from '../../plugins/edits/contract.ts'
import {
  createOpenAiEditor,
  type OpenAiEditorLimits,
  type OpenAiEditorOptions,
} from '../../plugins/edits/openai.ts'
import { FAKE_MODEL, startFakeModel, type FakeTurn } from './fake-model.ts'

export const KEY = 'sk-very-secret-0123456789'
const DAY = 86_400_000

/** Real time, but for waits before another attempt: they are noted, and over at once. */
export function clockOf(waits: number[] = []): OpenAiEditorOptions['clock'] {
  return {
    now: () => Date.now(),
    after(delay, run) {
      const isWait = delay >= 500 && delay < 100_000
      if (isWait) waits.push(delay)
      const timer = setTimeout(run, isWait ? 0 : Math.min(delay, DAY))
      return () => clearTimeout(timer)
    },
  }
}

const PATIENT: Partial<OpenAiEditorLimits> = {
  edit: DAY,
  firstByte: DAY,
  idle: DAY,
  heartbeat: DAY,
}

/** The guarded client, as the daemon opens it. */
export const reach = ({ url }: { readonly url: string }) =>
  openModelServer(url, { ownHosts: [], atOnce: 64, answer: 64 * 1_048_576 })

/** Editors over a fake model, which ends with the tests. */
export async function startEditing(t: { teardown(handler: () => Promise<void>): void }) {
  const fake = await startFakeModel()
  const { fetch, close } = await reach(fake)
  t.teardown(async () => {
    await close()
    await fake.close()
  })

  function editorOf(options: Partial<OpenAiEditorOptions> = {}) {
    return createOpenAiEditor({
      baseUrl: fake.url,
      apiKey: KEY,
      model: FAKE_MODEL,
      fetch,
      clock: clockOf(),
      random: randomBytes,
      ...options,
      limits: { ...PATIENT, ...options.limits },
    })
  }

  function carryOut(
    turns: readonly FakeTurn[],
    options: Partial<OpenAiEditorOptions> = {},
    tools: EditTools = createWorld().tools,
    changes: Partial<EditTask> = {},
  ) {
    const prompt = `Change it. ${fake.script(...turns)}`
    return editorOf(options).carryOut(sampleTask(prompt, changes), tools)
  }

  /** What was asked under the latest marker. */
  const asked = (count: number) => fake.requests.slice(-count)

  return { fake, fetch, editorOf, carryOut, asked }
}

/** Operations in the form that a model writes them. */
export function written(operations: readonly EditOperation[]): string {
  const blocks = operations.map((operation) => {
    if (operation.op === 'write') {
      return `FILE ${operation.path}\n\`\`\`\`\n${operation.content}\`\`\`\`\n`
    }
    if (operation.op === 'patch') return edit(operation.path, operation.search, operation.replace)
    if (operation.op === 'rename') return `RENAME ${operation.from} -> ${operation.to}\n`
    if (operation.op === 'delete') return `DELETE ${operation.path}\n`
    throw new TypeError('A model does not configure')
  })
  return `SUMMARY: Does as told.\n\n${blocks.join('\n')}`
}

export function edit(path: string, search: string, replace: string): string {
  return `EDIT ${path}\n<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n`
}

export const NAVY = edit('style.css', '  color: navy;', '  color: red;')
export const WRONG = edit('style.css', '  colour: navy;', '  color: red;')
export const RED_STYLE = BASE['style.css']?.replace('navy', 'red') ?? ''
export const PAGE = written([{ op: 'write', path: 'about.html', content: '<h1>About</h1>\n' }])

/** Resolves once something holds; it is the test's own timeout that ends the waiting. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(2)
}
