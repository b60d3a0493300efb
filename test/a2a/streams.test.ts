import t from 'tap'
import { until } from '../support/daemon.ts'
import type { Followed, Reply } from './client.ts'
import { BINDINGS } from './client.ts'
import type { Stage, WireTask } from './stage.ts'
import { createStage } from './stage.ts'

const metadata = { skill: 'edits_create' }

interface Update {
  readonly task?: WireTask
  readonly statusUpdate?: { readonly taskId: string; readonly status: WireTask['status'] }
  readonly artifactUpdate?: { readonly artifact: { readonly artifactId: string } }
}

const updateOf = (reply: Reply | undefined): Update => (reply?.result ?? {}) as Update

/** What an event says, in a word. */
function wordOf(reply: Reply): string {
  const { task, statusUpdate, artifactUpdate } = updateOf(reply)
  if (task !== undefined) return `task ${task.status.state.slice(11)}`
  if (statusUpdate !== undefined) return statusUpdate.status.state.slice(11)
  return artifactUpdate?.artifact.artifactId ?? reply.error?.message ?? 'nothing'
}

async function taskOf(stream: Followed): Promise<WireTask> {
  const { task } = updateOf(await stream.next())
  if (task === undefined) throw new Error(stream.reply?.text ?? 'no task')
  return task
}

const streaming = (stage: Stage, text: string) =>
  stage.client.follow('SendStreamingMessage', { message: stage.message([{ text }], { metadata }) })

for (const binding of BINDINGS) {
  void t.test(`${binding}: a stream begins with the task and ends with it`, async (t) => {
    const stage = await createStage(t, binding)
    const stream = await streaming(stage, 'green')
    t.equal(stream.headers.get('x-accel-buffering'), 'no')
    t.equal(stream.headers.get('cache-control'), 'no-store')
    const task = await taskOf(stream)
    t.match(task.status.state, /SUBMITTED|WORKING/)
    await stage.held.release('green')
    const rest = await stream.rest()
    const begun = task.status.state === 'TASK_STATE_WORKING' ? [] : ['WORKING']
    t.same(rest.map(wordOf), [...begun, 'record', 'diff', 'preview', 'COMPLETED'])
    t.equal(updateOf(rest.at(-1)).statusUpdate?.taskId, task.id)
    // What begins no work ends at once.
    const asking = await stage.client.follow('SendStreamingMessage', {
      message: stage.message([{ text: 'Make it green' }]),
    })
    t.same((await asking.rest()).map(wordOf), ['task INPUT_REQUIRED'])
    const refused = await stage.client.follow('SendStreamingMessage', {
      message: stage.message([{ raw: 'dGNr', mediaType: 'image/png' }]),
    })
    t.match(refused.reply?.error?.details, [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }])
  })

  void t.test(
    `${binding}: who subscribes again misses nothing, and all get the same`,
    async (t) => {
      const stage = await createStage(t, binding)
      const first = await streaming(stage, 'green')
      const { id } = await taskOf(first)
      first.close()
      const subscribe = () => stage.client.follow('SubscribeToTask', { id })
      const streams = [await subscribe(), await subscribe(), await subscribe()] as const
      for (const stream of streams) t.equal((await taskOf(stream)).id, id)
      streams[2].close()
      await stage.held.release('green')
      const [one, other] = await Promise.all([streams[0].rest(), streams[1].rest()])
      t.same(one.map(wordOf).slice(-4), ['record', 'diff', 'preview', 'COMPLETED'])
      t.same(one.map(({ result }) => result).slice(-4), other.map(({ result }) => result).slice(-4))
      const late = await subscribe()
      t.match(late.reply?.error?.details, [{ reason: 'UNSUPPORTED_OPERATION' }])
      const unknown = await stage.client.follow('SubscribeToTask', { id: 'nothing' })
      t.match(unknown.reply?.error?.details, [{ reason: 'TASK_NOT_FOUND' }])
    },
  )

  void t.test(`${binding}: a subscription to a question goes on with its answer`, async (t) => {
    const stage = await createStage(t, binding)
    const { id } = await stage.ask()
    const stream = await stage.client.follow('SubscribeToTask', { id })
    t.equal((await taskOf(stream)).status.state, 'TASK_STATE_INPUT_REQUIRED')
    const answer = stage.message([{ data: { skill: 'edits_create' } }], { taskId: id })
    await stage.send(answer, { returnImmediately: true })
    await stage.held.release('Make it green')
    t.same((await stream.rest()).map(wordOf), ['WORKING', 'record', 'diff', 'preview', 'COMPLETED'])
  })

  void t.test(`${binding}: a key that is revoked reads the reason and no more`, async (t) => {
    const stage = await createStage(t, binding)
    const sent = await streaming(stage, 'green')
    const { id } = await taskOf(sent)
    const subscribed = await stage.client.follow('SubscribeToTask', { id })
    await taskOf(subscribed)
    await stage.world.request('DELETE', `/v1/keys/${stage.keyId}`)
    // Also of what goes on after the revocation, nothing is read.
    await stage.held.release('green')
    for (const stream of [sent, subscribed]) {
      const rest = await stream.rest()
      t.match(rest.at(-1)?.error?.details, [{ reason: 'KEY_REVOKED' }])
      t.notOk(rest.some(({ result }) => updateOf({ result } as Reply).artifactUpdate))
    }
  })

  void t.test(`${binding}: streams count under the limit of the caller`, async (t) => {
    const stage = await createStage(t, binding)
    const task = await stage.edit('green')
    const open: Followed[] = []
    for (let count = 0; count < 20; count += 1) {
      open.push(await stage.client.follow('SubscribeToTask', { id: task.id }))
    }
    t.ok(open.every(({ reply }) => reply === undefined))
    const refused = await stage.client.follow('SubscribeToTask', { id: task.id })
    t.match(refused.reply?.error?.details, [{ reason: 'TOO_MANY_STREAMS' }])
    for (const stream of open) stream.close()
    await until('a stream is free', async () => {
      const stream = await stage.client.follow('SubscribeToTask', { id: task.id })
      stream.close()
      return stream.reply === undefined
    })
    await stage.held.release('green')
  })

  void t.test(`${binding}: who waits for an answer holds no body`, async (t) => {
    const stage = await createStage(t, binding)
    const more = { metadata: { ...metadata, note: 'x'.repeat(100_000) } }
    const sending = stage.send(stage.message([{ text: 'green' }], more))
    await stage.held.until('green')
    await until('the body is released', () => stage.world.traffic.bodies.used === 0)
    await stage.held.release('green')
    t.equal((await sending).status.state, 'TASK_STATE_COMPLETED')
  })
}
