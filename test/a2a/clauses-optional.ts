import assert from 'node:assert/strict'
import type { Clause } from './clause.ts'
import { refusedFor } from './clause.ts'
import type { Followed, Reply } from './client.ts'
import type { Stage, WireTask } from './stage.ts'

interface Update {
  readonly task?: WireTask
  readonly statusUpdate?: { readonly status: { readonly state: string } }
}

const updateOf = (reply: Reply | undefined): Update => (reply?.result ?? {}) as Update

const follow = ({ client }: Stage, id: string): Promise<Followed> =>
  client.follow('SubscribeToTask', { id })

/** Two streams of a task that asks, which is answered then. */
async function answered(stage: Stage, more: (streams: readonly Followed[]) => Promise<void>) {
  const { id } = await stage.ask()
  const streams = [await follow(stage, id), await follow(stage, id)]
  const first = await Promise.all(streams.map((stream) => stream.next()))
  for (const reply of first) assert.equal(updateOf(reply).task?.id, id)
  await more(streams)
  const data = { skill: 'observe_health' }
  await stage.send(stage.message([{ data }], { taskId: id }))
  return streams
}

const STREAMS: readonly Clause[] = [
  {
    id: 'CORE-STREAM-001',
    section: '3.1.2',
    level: 'MUST',
    text: 'SendStreamingMessage opens a stream.',
    async check(stage) {
      const message = stage.message([{ text: 'x' }])
      const stream = await stage.client.follow('SendStreamingMessage', { message })
      assert.equal(stream.headers.get('content-type'), 'text/event-stream')
      stream.close()
    },
  },
  {
    id: 'CORE-STREAM-003',
    section: '3.1.2',
    level: 'MUST',
    text: 'A stream begins with the task, and ends when it has ended.',
    async check(stage) {
      const metadata = { skill: 'edits_create' }
      const message = stage.message([{ text: 'streamed' }], { metadata })
      const stream = await stage.client.follow('SendStreamingMessage', { message })
      assert.ok(updateOf(await stream.next()).task)
      await stage.held.release('streamed')
      const last = updateOf((await stream.rest()).at(-1)).statusUpdate
      assert.equal(last?.status.state, 'TASK_STATE_COMPLETED')
    },
  },
  {
    id: 'CORE-STREAM-004',
    section: '3.1.2',
    level: 'MUST',
    text: 'What SendMessage refuses is refused, and no stream.',
    async check(stage) {
      const { id: taskId } = await stage.read()
      const refusals = [
        [{ taskId }, 'UNSUPPORTED_OPERATION'],
        [{ taskId: 'nothing' }, 'TASK_NOT_FOUND'],
      ] as const
      for (const [more, reason] of refusals) {
        const message = stage.message([{ text: 'x' }], more)
        const { reply } = await stage.client.follow('SendStreamingMessage', { message })
        assert.ok(reply)
        refusedFor(reply, reason)
      }
    },
  },
  {
    id: 'STREAM-SUB-001',
    section: '3.1.6',
    level: 'MUST',
    text: 'SubscribeToTask says the task first.',
    async check(stage) {
      const { id } = await stage.ask()
      const stream = await follow(stage, id)
      assert.equal(updateOf(await stream.next()).task?.id, id)
      stream.close()
    },
  },
  {
    id: 'STREAM-SUB-002',
    section: '3.1.6',
    level: 'MUST',
    text: 'A subscription ends when the task has ended.',
    async check(stage) {
      const [stream] = await answered(stage, async () => undefined)
      const last = updateOf((await stream?.rest())?.at(-1)).statusUpdate
      assert.equal(last?.status.state, 'TASK_STATE_COMPLETED')
    },
  },
  {
    id: 'STREAM-SUB-003',
    section: '3.1.6',
    level: 'MUST',
    text: 'A subscription to a task that has ended is an UnsupportedOperationError.',
    async check(stage) {
      const { reply } = await follow(stage, (await stage.read()).id)
      assert.ok(reply)
      refusedFor(reply, 'UNSUPPORTED_OPERATION')
    },
  },
  {
    id: 'STREAM-SUB-004',
    section: '3.1.6',
    level: 'MUST',
    text: 'A subscription to an unknown task is a TaskNotFoundError.',
    async check(stage) {
      const { reply } = await follow(stage, 'nothing')
      assert.ok(reply)
      refusedFor(reply, 'TASK_NOT_FOUND')
    },
  },
  {
    id: 'STREAM-ORDER-003',
    section: '3.5.2',
    level: 'MUST',
    text: 'All streams of a task get the same events in the same order (also ORDER-001, 002).',
    async check(stage) {
      const streams = await answered(stage, async () => undefined)
      const [one, other] = await Promise.all(streams.map((stream) => stream.rest()))
      assert.ok(one !== undefined && one.length >= 2)
      assert.deepEqual(
        one.map(({ result }) => result),
        other?.map(({ result }) => result),
      )
    },
  },
  {
    id: 'STREAM-ORDER-004',
    section: '3.5.2',
    level: 'MUST',
    text: 'A stream that is closed ends no other, and not the task.',
    async check(stage) {
      const [, other] = await answered(stage, async ([one]) => {
        one?.close()
      })
      assert.ok(((await other?.rest()) ?? []).length >= 2)
    },
  },
]

/** Nobody receives it: only what is registered is looked at. */
const url = 'http://127.0.0.1:9/hook'

async function configured(stage: Stage) {
  const { id: taskId } = await stage.read()
  const config = { taskId, id: 'mine', url }
  const { result, text } = await stage.client.ask('CreateTaskPushNotificationConfig', config)
  assert.ok(result, text)
  return { config, result }
}

const PUSHES: readonly Clause[] = [
  {
    id: 'PUSH-CREATE-001',
    section: '3.1.7',
    level: 'MUST',
    text: 'A configuration that is created is returned, and persists (also CREATE-002).',
    async check(stage) {
      const { config, result } = await configured(stage)
      assert.deepEqual(result, config)
      const { result: found } = await stage.client.ask('GetTaskPushNotificationConfig', config)
      assert.deepEqual(found, config)
    },
  },
  {
    id: 'PUSH-CREATE-003',
    section: '3.1.7',
    level: 'MUST',
    text: 'A configuration of an unknown task is a TaskNotFoundError.',
    async check({ client }) {
      const config = { taskId: 'nothing', url }
      const reply = await client.ask('CreateTaskPushNotificationConfig', config)
      refusedFor(reply, 'TASK_NOT_FOUND')
    },
  },
  {
    id: 'PUSH-GET-002',
    section: '3.1.8',
    level: 'MUST',
    text: 'An unknown configuration is an error.',
    async check(stage) {
      const { id: taskId } = await stage.read()
      const asked = { taskId, id: 'nothing' }
      refusedFor(await stage.client.ask('GetTaskPushNotificationConfig', asked), 'TASK_NOT_FOUND')
    },
  },
  {
    id: 'PUSH-LIST-001',
    section: '3.1.9',
    level: 'MUST',
    text: 'The list has all configurations of the task.',
    async check(stage) {
      const { config } = await configured(stage)
      const { taskId } = config
      const { result } = await stage.client.ask('ListTaskPushNotificationConfigs', { taskId })
      assert.deepEqual(result?.['configs'], [config])
    },
  },
  {
    id: 'PUSH-DEL-001',
    section: '3.1.10',
    level: 'MUST',
    text: 'A configuration that is deleted is gone; deleting it again is no error (also DEL-002).',
    async check(stage) {
      const { config } = await configured(stage)
      for (let time = 0; time < 2; time += 1) {
        const { error } = await stage.client.ask('DeleteTaskPushNotificationConfig', config)
        assert.equal(error, undefined)
      }
      const reply = await stage.client.ask('GetTaskPushNotificationConfig', config)
      refusedFor(reply, 'TASK_NOT_FOUND')
    },
  },
]

const CARD: readonly Clause[] = [
  {
    id: 'CARD-EXT-001',
    section: '3.1.11',
    level: 'MUST',
    text: 'The extended card is returned to an authenticated client.',
    async check({ client }) {
      const { result, text } = await client.ask('GetExtendedAgentCard')
      const { capabilities, supportedInterfaces } = result ?? {}
      assert.ok(Array.isArray(supportedInterfaces), text)
      const all = { streaming: true, pushNotifications: true, extendedAgentCard: true }
      assert.deepEqual(capabilities, all)
    },
  },
]

/** What the card says beside: streams, notifications, the extended card (3.1, 3.5, 4.3). */
export const OPTIONAL: readonly Clause[] = [...STREAMS, ...PUSHES, ...CARD]

/** Requirements that do not apply, or that other suites show. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'CORE-STREAM-002': 'Every message is a task: there are no streams of one message.',
  'CORE-CAP-001': 'Notifications are supported.',
  'CORE-CAP-002': 'Streams are supported.',
  'CORE-CAP-003': 'The extended card is supported.',
  'CORE-CAP-004': 'The card requires no extension.',
  'CORE-TASK-AUTH': 'No task asks for credentials (7.5).',
  'CARD-DISC-001': 'test/daemon/agent-card.test.ts, as CARD-PROTO-001, 002 and CARD-STRUCT-001.',
  'CARD-EXT-002': 'The extended card is always configured.',
  'CARD-SIGN-001': 'Cards are not signed, which is a MAY; so are CARD-SIGN-002 to 004.',
  'CARD-CACHE-001': 'test/daemon/agent-card.test.ts, as CARD-CACHE-002.',
  'PUSH-DELIVER-001': 'test/a2a/pushes.test.ts, as PUSH-DELIVER-002 and 003, with a receiver.',
  'GRPC-*': 'There is no interface of gRPC.',
  'VER-CLIENT-001': 'Of clients.',
}
