import t from 'tap'
import type { EditOperation, Editor, EditStage } from '../../plugins/edits/contract.ts'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import {
  ask,
  at,
  createApp,
  createHeldEditor,
  editWorld,
  endsOf,
  eventsOf,
  startWorker,
  untilEnded,
} from '../support/edits.ts'

void t.test('nothing runs beyond its deadline, whether its editor heeds it or not', async (t) => {
  const deaf: Editor = { available: true, carryOut: () => new Promise(() => undefined) }
  for (const [name, editor] of [
    ['heeds', createHeldEditor().editor],
    ['does not', deaf],
  ] as const) {
    const world = await editWorld(t, editor)
    const { id } = await createApp(world)
    startWorker(t, world, { deadline: 150 })
    const edit = (await ask(world, id, 'slow')).body
    t.match(
      await untilEnded(world, edit),
      {
        status: 'failed',
        error: { code: 'timed_out', retryable: true },
      },
      name,
    )
    t.same(await endsOf(world), [`${edit.id} timed_out`], name)
  }
})

void t.test('a defect of the editor fails the edit, and says nothing of itself', async (t) => {
  const script = (): never => {
    throw new TypeError('the password is hunter2')
  }
  const world = await editWorld(t, createMemoryEditor({ script }))
  const { id } = await createApp(world)
  startWorker(t, world)
  const edit = await untilEnded(world, (await ask(world, id, 'anything')).body)
  t.match(edit, { status: 'failed', error: { code: 'internal_error', retryable: true } })
  const logs = await world.request('GET', `${at(edit)}/logs`)
  t.notMatch(JSON.stringify([edit, logs.body, await eventsOf(world)]), 'hunter2')
})

/** An editor that answers these operations, and whatever else it may not. */
function careless(operations: readonly EditOperation[]): Editor {
  return {
    available: true,
    async carryOut(_task, { progress }) {
      const stage = 'reading\u0000\n' as EditStage
      progress({
        stage,
        done: NaN,
        total: -1,
        message: `Two\u0000\nlines \ud800${'x'.repeat(9000)}`,
      })
      return {
        operations,
        summary: 'Two\u0000\nlines \ud800',
        model: '\u0000',
        usage: { input_tokens: NaN, output_tokens: 1.5, cached_tokens: -1, estimated: false },
        repaired: false,
      }
    },
  }
}

void t.test('what an editor should not answer changes nothing, or is made harmless', async (t) => {
  const bad = await editWorld(t, careless([{ op: 'write', path: '../out.txt', content: '' }]))
  const one = await createApp(bad)
  startWorker(t, bad)
  const refused = await untilEnded(bad, (await ask(bad, one.id, 'escape')).body)
  t.match(refused, { status: 'failed', error: { code: 'patch_not_applied' } })
  t.match(await bad.request('GET', `/v1/apps/${one.id}`), { body: { current_revision: 1 } })

  const odd = await editWorld(t, careless([{ op: 'write', path: 'in.txt', content: '' }]))
  const other = await createApp(odd)
  startWorker(t, odd)
  const edit = await untilEnded(odd, (await ask(odd, other.id, 'odd')).body)
  t.match(edit, {
    status: 'completed',
    summary: 'Two lines',
    model: null,
    usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0 },
  })
  const { body } = await odd.request<{ data: { message: string }[] }>('GET', `${at(edit)}/logs`)
  const [first] = body.data
  t.match(first?.message, /^Two lines x+$/)
  t.equal(first?.message.length, 500)
})
