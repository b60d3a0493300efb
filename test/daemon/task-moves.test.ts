import t from 'tap'
import { createMemoryEditor } from '../../plugins/edits/memory.ts'
import { insertTask, sampleTask } from '../platform/task-samples.ts'
import { until } from '../support/daemon.ts'
import { createHeldDeployer, deployWorld, publish, startDeployer } from '../support/deploys.ts'
import {
  ask,
  createApp,
  createHeldEditor,
  editWorld,
  startWorker,
  untilEnded,
} from '../support/edits.ts'
import type { World } from '../support/world.ts'

/** Inserts the task of a queued edit or deployment, as the message that asked for it does. */
async function taskOf(world: World, subject_id: string): Promise<void> {
  const task = sampleTask(subject_id, { subject_id, state_at: 0 })
  await insertTask(world.platform.store, task)
}

const stateOf = (world: World, id: string) => world.platform.store.tasks.get('key_1', id)

async function untilState(world: World, id: string, state: string): Promise<void> {
  await until(`task is ${state}`, async () => (await stateOf(world, id))?.state === state)
}

void t.test('a task follows its edit: begun, then completed with what it cost', async (t) => {
  const held = createHeldEditor()
  const world = await editWorld(t, held.editor)
  const app = await createApp(world)
  const { id } = (await ask(world, app.id, 'green')).body
  await taskOf(world, id)
  startWorker(t, world)
  await held.until('green')
  await untilState(world, id, 'working')
  t.equal((await stateOf(world, id))?.charged, null)
  await held.release('green')
  await untilState(world, id, 'completed')
  t.match(await stateOf(world, id), { failure: null, charged: 0 })
})

void t.test('a task of a failed edit says why, and that nothing was charged', async (t) => {
  const script = () => Promise.reject(new Error('of the model'))
  const world = await editWorld(t, createMemoryEditor({ script }))
  const app = await createApp(world)
  const edit = (await ask(world, app.id, 'green')).body
  await taskOf(world, edit.id)
  startWorker(t, world)
  const ended = await untilEnded(world, edit)
  const task = await stateOf(world, edit.id)
  t.match(task, { state: 'failed', charged: 0 })
  const { code, message, retryable } = ended['error'] as Record<string, unknown>
  t.match(task?.failure, { code, message, retryable, request_id: null })
})

void t.test('a task of a canceled edit is canceled, queued or running', async (t) => {
  const held = createHeldEditor()
  const world = await editWorld(t, held.editor)
  const app = await createApp(world)
  const [first, second] = [
    (await ask(world, app.id, 'first')).body,
    (await ask(world, app.id, 'second')).body,
  ]
  for (const { id } of [first, second]) await taskOf(world, id)
  startWorker(t, world)
  await held.until('first')
  for (const { id } of [second, first]) {
    await world.request('POST', `/v1/apps/${app.id}/edits/${id}/cancel`)
    await untilState(world, id, 'canceled')
  }
})

void t.test('a task follows its deployment to live, and to its cancellation', async (t) => {
  const held = createHeldDeployer()
  const world = await deployWorld(t, { deployer: held.deployer })
  const app = await createApp(world)
  const { body } = await publish(world, app.id)
  await taskOf(world, String(body.id))
  startDeployer(t, world)
  await untilState(world, String(body.id), 'working')
  await held.untilBegun()
  held.release()
  await untilState(world, String(body.id), 'completed')
})
