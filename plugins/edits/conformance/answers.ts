import assert from 'node:assert/strict'
import type { EditOperation } from '../contract.ts'
import { BASE, createWorld, type EditCase, failureOf, resultOf, sampleTask } from './world.ts'

const ABOUT: EditOperation = { op: 'write', path: 'about.html', content: '<h1>About</h1>\n' }
const RED: EditOperation = {
  op: 'patch',
  path: 'style.css',
  search: '  color: navy;',
  replace: '  color: red;',
}

/** What the suite's cases ask for. */
export const answerCases: readonly EditCase[] = [
  {
    name: 'edits: a prompt for a new file is answered by its write',
    async run({ editor, promptFor }) {
      assert.equal(editor.available, true)
      const outcome = await editor.carryOut(sampleTask(promptFor([ABOUT])), createWorld().tools)
      assert.deepEqual(resultOf(outcome), { ...BASE, 'about.html': '<h1>About</h1>\n' })
    },
  },
  {
    name: 'edits: a change in a file leaves the rest of it as it was',
    async run({ editor, promptFor }) {
      const outcome = await editor.carryOut(sampleTask(promptFor([RED])), createWorld().tools)
      const style = BASE['style.css']?.replace('navy', 'red')
      assert.deepEqual(resultOf(outcome), { ...BASE, 'style.css': style })
    },
  },
  {
    name: 'edits: what replaces a place is literal, whatever it looks like',
    async run({ editor, promptFor }) {
      const replace = "  content: '$& $1 $$ \\n';"
      const prompt = promptFor([{ ...RED, replace }])
      const outcome = await editor.carryOut(sampleTask(prompt), createWorld().tools)
      const style = BASE['style.css']?.split('  color: navy;').join(replace)
      assert.equal(resultOf(outcome)['style.css'], style)
    },
  },
  {
    name: 'edits: several files are changed in an order that applies',
    async run({ editor, promptFor }) {
      const prompt = promptFor([
        { op: 'rename', from: 'old/notes.txt', to: 'notes.txt' },
        { op: 'patch', path: 'notes.txt', search: 'two', replace: 'zwei' },
        { op: 'delete', path: 'style.css' },
        ABOUT,
      ])
      const outcome = await editor.carryOut(sampleTask(prompt), createWorld().tools)
      assert.deepEqual(resultOf(outcome), {
        'index.html': BASE['index.html'],
        'notes.txt': 'one\nzwei\nthree\n',
        'about.html': '<h1>About</h1>\n',
      })
    },
  },
  {
    name: 'edits: carrying out changes nothing, not even the bytes that were read',
    async run({ editor, promptFor }) {
      const world = createWorld()
      await editor.carryOut(sampleTask(promptFor([RED, ABOUT])), world.tools)
      assert.deepEqual(world.files(), BASE)
    },
  },
  {
    name: 'edits: progress is told before the answer, and never beyond its total',
    async run({ editor, promptFor }) {
      const { tools, reports } = createWorld()
      await editor.carryOut(sampleTask(promptFor([ABOUT])), tools)
      assert.ok(reports.length > 0)
      for (const { stage, done, total } of reports) {
        assert.ok(['reading', 'asking', 'repairing', 'applying'].includes(stage), stage)
        const said = `${stage}: ${done} of ${total}`
        assert.ok(Number.isSafeInteger(done) && done >= 0, said)
        assert.ok(total === null || (Number.isSafeInteger(total) && total >= done), said)
      }
    },
  },
  {
    name: 'edits: the outcome says in a line what was done, by which model, at what cost',
    async run({ editor, promptFor }) {
      const outcome = await editor.carryOut(sampleTask(promptFor([ABOUT])), createWorld().tools)
      assert.match(outcome.summary, /^[^\r\n]{1,200}$/)
      assert.ok(outcome.model.length > 0)
      const { input_tokens, output_tokens, cached_tokens, estimated } = outcome.usage
      for (const count of [input_tokens, output_tokens, cached_tokens]) {
        assert.ok(Number.isSafeInteger(count) && count >= 0, JSON.stringify(outcome.usage))
      }
      assert.ok(cached_tokens <= input_tokens)
      assert.equal(typeof estimated, 'boolean')
      assert.equal(outcome.repaired, false)
    },
  },
  {
    name: 'edits: what the core would refuse is never answered',
    async run({ editor, promptFor }) {
      const refused = new Set<EditOperation>()
      const { tools } = createWorld({
        async check(operations) {
          for (const operation of operations) refused.add(operation)
          return operations.map((_, index) => ({ index, code: 'refused', message: 'Not this.' }))
        },
      })
      const failure = await failureOf(editor.carryOut(sampleTask(promptFor([ABOUT])), tools))
      assert.ok(['patch_not_applied', 'model_answer_invalid'].includes(failure.code), failure.code)
      assert.ok(refused.size > 0, 'it was asked')
    },
  },
  {
    name: 'edits: a path that leads out of the app is never answered',
    async run({ editor, promptFor }) {
      const prompt = promptFor([{ op: 'write', path: '../outside.html', content: 'x\n' }])
      const failure = await failureOf(editor.carryOut(sampleTask(prompt), createWorld().tools))
      assert.ok(['patch_not_applied', 'model_answer_invalid'].includes(failure.code), failure.code)
    },
  },
  {
    name: 'edits: the same edit given again comes to the same, and nothing is done twice',
    async run({ editor, promptFor }) {
      const world = createWorld()
      const task = sampleTask(promptFor([RED, ABOUT]))
      const first = await editor.carryOut(task, world.tools)
      const again = await editor.carryOut(task, world.tools)
      assert.deepEqual(resultOf(again), resultOf(first))
      assert.deepEqual(world.files(), BASE)
    },
  },
  {
    name: 'edits: tasks side by side do not mix',
    async run({ editor, promptFor }) {
      const paths = Array.from({ length: 5 }, (_, index) => `page-${index}.html`)
      const edits = paths.map((path) => {
        const prompt = promptFor([{ op: 'write', path, content: `${path}\n` }])
        return editor.carryOut(sampleTask(prompt, { edit_id: path }), createWorld().tools)
      })
      const trees = (await Promise.all(edits)).map(resultOf)
      assert.deepEqual(
        trees,
        paths.map((path) => ({ ...BASE, [path]: `${path}\n` })),
      )
    },
  },
  {
    name: 'edits: an app without files is made from nothing',
    async run({ editor, promptFor }) {
      const page: EditOperation = { op: 'write', path: 'index.html', content: '<h1>New</h1>\n' }
      const { tools } = createWorld({ read: async () => undefined })
      const task = sampleTask(promptFor([page]), { initial: true, files: [] })
      const { operations } = await editor.carryOut(task, tools)
      assert.deepEqual(operations, [page])
    },
  },
]
