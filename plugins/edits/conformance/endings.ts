import assert from 'node:assert/strict'
import { createWorld, type EditCase, type EditHarness, failureOf, sampleTask } from './world.ts'

/** Begins the endless prompt, and has `end` end it once the editor has told that it works. */
async function endedBy(
  { editor, endlessPrompt }: EditHarness,
  end: (cancel: AbortController) => unknown,
): Promise<string> {
  const cancel = new AbortController()
  let tell = (): void => undefined
  const told = new Promise<void>((resolve) => (tell = resolve))
  const { tools } = createWorld({ signal: cancel.signal, progress: () => tell() })
  const failing = failureOf(editor.carryOut(sampleTask(endlessPrompt), tools))
  await Promise.race([told, failing])
  await end(cancel)
  return (await failing).code
}

const late = (): DOMException => new DOMException('The deadline has passed.', 'TimeoutError')

/** How an edit ends that is not carried out. */
export const endingCases: readonly EditCase[] = [
  {
    name: 'edits: one that is canceled ends as canceled',
    async run(harness) {
      assert.equal(await endedBy(harness, (cancel) => cancel.abort()), 'canceled')
    },
  },
  {
    name: 'edits: one whose deadline passes ends as such',
    async run(harness) {
      assert.equal(await endedBy(harness, (cancel) => cancel.abort(late())), 'deadline')
    },
  },
  {
    name: 'edits: one that was canceled before it began is not begun',
    async run({ editor, promptFor }) {
      const { tools, reads } = createWorld({ signal: AbortSignal.abort() })
      const prompt = promptFor([{ op: 'delete', path: 'style.css' }])
      assert.equal((await failureOf(editor.carryOut(sampleTask(prompt), tools))).code, 'canceled')
      assert.deepEqual(reads, [])
    },
  },
  {
    name: 'edits: a fault of the core’s own ends the edit with that fault',
    async run({ editor, promptFor }) {
      const fault = new Error('the tree is gone')
      const { tools } = createWorld({ check: () => Promise.reject(fault) })
      const prompt = promptFor([{ op: 'delete', path: 'style.css' }])
      await assert.rejects(editor.carryOut(sampleTask(prompt), tools), fault)
    },
  },
  {
    name: 'edits: closing ends what is under way, and what comes later',
    requires: 'close',
    async run(harness) {
      const close = async (): Promise<void> => harness.editor.close?.()
      assert.equal(await endedBy(harness, close), 'canceled')
      const later = harness.editor.carryOut(sampleTask(harness.endlessPrompt), createWorld().tools)
      assert.equal((await failureOf(later)).code, 'canceled')
    },
  },
  {
    name: 'edits: without what it needs it is not available, and refuses',
    requires: 'configuration',
    async run({ openUnconfigured, promptFor }) {
      const editor = await openUnconfigured?.()
      assert.ok(editor)
      assert.equal(editor.available, false)
      const prompt = promptFor([{ op: 'delete', path: 'style.css' }])
      const edit = editor.carryOut(sampleTask(prompt), createWorld().tools)
      assert.equal((await failureOf(edit)).code, 'model_not_configured')
    },
  },
]
