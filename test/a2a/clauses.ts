import assert from 'node:assert/strict'
import type { Clause } from './clause.ts'
import { got, listed, refusedFor } from './clause.ts'
import type { WireTask } from './stage.ts'

const SEND: readonly Clause[] = [
  {
    id: 'CORE-SEND-001',
    section: '3.1.1',
    level: 'MUST',
    text: 'SendMessage returns a task or a message.',
    async check(stage) {
      assert.equal((await stage.read()).status.state, 'TASK_STATE_COMPLETED')
    },
  },
  {
    id: 'CORE-SEND-002',
    section: '3.1.1',
    level: 'MUST',
    text: 'A message to a task in a final state is an UnsupportedOperationError.',
    async check(stage) {
      const { id: taskId } = await stage.read()
      refusedFor(
        await stage.refused(stage.message([{ text: 'more' }], { taskId })),
        'UNSUPPORTED_OPERATION',
      )
    },
  },
  {
    id: 'CORE-SEND-003',
    section: '3.1.1',
    level: 'MUST',
    text: 'A media type that is not supported is a ContentTypeNotSupportedError.',
    async check(stage) {
      const part = { raw: 'dGNr', mediaType: 'application/x-unsupported' }
      refusedFor(await stage.refused(stage.message([part])), 'CONTENT_TYPE_NOT_SUPPORTED')
    },
  },
  {
    id: 'CORE-EXECUTION-MODE-001',
    section: '3.2.2',
    level: 'MUST',
    text: 'Without returnImmediately it waits for a final or interrupted state.',
    async check(stage) {
      const metadata = { skill: 'edits_create' }
      const sent = stage.send(stage.message([{ text: 'blocking' }], { metadata }))
      await stage.held.release('blocking')
      assert.equal((await sent).status.state, 'TASK_STATE_COMPLETED')
      assert.equal((await stage.ask()).status.state, 'TASK_STATE_INPUT_REQUIRED')
    },
  },
  {
    id: 'CORE-EXECUTION-MODE-002',
    section: '3.2.2',
    level: 'MUST',
    text: 'With returnImmediately it returns while the work is under way.',
    async check(stage) {
      const { state } = (await stage.edit('non-blocking')).status
      assert.match(state, /^TASK_STATE_(SUBMITTED|WORKING)$/)
      await stage.held.release('non-blocking')
    },
  },
]

const READ: readonly Clause[] = [
  {
    id: 'CORE-GET-001',
    section: '3.1.3',
    level: 'MUST',
    text: 'GetTask returns the state, the artifacts and the history.',
    async check(stage) {
      const { id } = await stage.read()
      const task = await got(stage, { id })
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
      assert.equal(task.artifacts?.length, 1)
      assert.equal(task.history?.length, 1)
    },
  },
  {
    id: 'CORE-GET-002',
    section: '3.1.3',
    level: 'MUST',
    text: 'GetTask of an unknown task is a TaskNotFoundError.',
    async check({ client }) {
      refusedFor(await client.ask('GetTask', { id: 'nothing' }), 'TASK_NOT_FOUND')
    },
  },
  {
    id: 'CORE-LIST-001',
    section: '3.1.4',
    level: 'MUST',
    text: 'Only tasks of the caller are listed.',
    async check(stage) {
      await stage.read()
      const { key } = await stage.world.mintKey({ scopes: ['observe:read'] })
      const { result } = await stage.clientOf(key).ask('ListTasks')
      assert.deepEqual([result?.['tasks'], result?.['totalSize']], [[], 0])
    },
  },
  {
    id: 'CORE-LIST-002',
    section: '3.1.4',
    level: 'MUST',
    text: 'Pages are continued by pageToken, each task once.',
    async check(stage) {
      const contextId = 'context-of-pages'
      for (let made = 0; made < 3; made++) await stage.read({ contextId })
      const first = await listed(stage, { contextId, pageSize: 2 })
      const pageToken = first.nextPageToken
      const second = await listed(stage, { contextId, pageSize: 2, pageToken })
      assert.deepEqual([first.tasks.length, second.tasks.length], [2, 1])
      assert.equal(new Set([...first.tasks, ...second.tasks].map(({ id }) => id)).size, 3)
      assert.deepEqual([first.totalSize, second.totalSize, first.pageSize], [3, 3, 2])
    },
  },
  {
    id: 'CORE-LIST-003',
    section: '3.1.4',
    level: 'MUST',
    text: 'Tasks are sorted by the timestamp of their status, the latest first.',
    async check(stage) {
      for (let made = 0; made < 3; made++) await stage.read()
      const at = (await listed(stage)).tasks.map(({ status }) => status.timestamp)
      assert.deepEqual(
        at,
        at.toSorted((a, b) => (a < b ? 1 : -1)),
      )
      assert.ok(at.length >= 3)
    },
  },
  {
    id: 'CORE-LIST-004',
    section: '3.1.4',
    level: 'MUST',
    text: 'nextPageToken is always there, empty on the last page.',
    async check(stage) {
      const { tasks, nextPageToken } = await listed(stage, { contextId: 'of-nobody' })
      assert.deepEqual([tasks, nextPageToken], [[], ''])
    },
  },
  {
    id: 'CORE-LIST-005',
    section: '3.1.4',
    level: 'MUST',
    text: 'Artifacts are left out unless includeArtifacts asks for them.',
    async check(stage) {
      await stage.read({ contextId: 'with-artifacts' })
      const without = await listed(stage, { contextId: 'with-artifacts' })
      assert.equal('artifacts' in (without.tasks[0] ?? {}), false)
      const request = { contextId: 'with-artifacts', includeArtifacts: true }
      assert.equal((await listed(stage, request)).tasks[0]?.artifacts?.length, 1)
    },
  },
  {
    id: 'CORE-HIST-001',
    section: '3.2.4',
    level: 'SHOULD',
    text: 'historyLength 0 leaves the history out.',
    async check(stage) {
      const { id } = await stage.ask()
      assert.equal('history' in (await got(stage, { id, historyLength: 0 })), false)
    },
  },
  {
    id: 'CORE-HIST-002',
    section: '3.2.4',
    level: 'MUST',
    text: 'No more messages are returned than historyLength says, and they are the last.',
    async check(stage) {
      const { id } = await stage.ask()
      const { history } = await got(stage, { id, historyLength: 1 })
      assert.deepEqual(
        history?.map(({ role }) => role),
        ['ROLE_AGENT'],
      )
    },
  },
  {
    id: 'CORE-HIST-003',
    section: '3.2.4',
    level: 'SHOULD',
    text: 'historyLength 0 of SendMessage leaves the history out.',
    async check(stage) {
      const message = stage.message([{ text: 'x' }])
      assert.equal('history' in (await stage.send(message, { historyLength: 0 })), false)
    },
  },
  {
    id: 'CORE-HIST-005',
    section: '3.2.4',
    level: 'SHOULD',
    text: 'The history is in the order in which it was said.',
    async check(stage) {
      const { id: taskId } = await stage.ask()
      const data = { skill: 'observe_health' }
      const { history } = await stage.send(stage.message([{ data }], { taskId }))
      assert.deepEqual(
        history?.map(({ role }) => role),
        ['ROLE_USER', 'ROLE_AGENT', 'ROLE_USER'],
      )
    },
  },
  {
    id: 'CORE-HIST-006',
    section: '3.2.4',
    level: 'SHOULD',
    text: 'Messages in the history are what was sent.',
    async check(stage) {
      const parts = [{ text: 'a "b" \u{1F499}' }, { data: { c: [1, null], '10': 1, '9': 2 } }]
      const message = stage.message(parts)
      const { history } = await stage.send(message)
      assert.deepEqual(history?.[0]?.['parts'], parts)
      assert.equal(history?.[0]?.messageId, message['messageId'])
    },
  },
]

const CANCEL: readonly Clause[] = [
  {
    id: 'CORE-CANCEL-001',
    section: '3.1.5',
    level: 'MUST',
    text: 'CancelTask returns the task in its new state.',
    async check(stage) {
      const { id } = await stage.ask()
      const { result } = await stage.client.ask('CancelTask', { id })
      assert.equal((result as WireTask | undefined)?.status.state, 'TASK_STATE_CANCELED')
    },
  },
  {
    id: 'CORE-CANCEL-002',
    section: '3.1.5',
    level: 'MUST',
    text: 'CancelTask of a task in a final state is a TaskNotCancelableError.',
    async check(stage) {
      const { id } = await stage.read()
      refusedFor(await stage.client.ask('CancelTask', { id }), 'TASK_NOT_CANCELABLE')
    },
  },
  {
    id: 'CORE-CANCEL-003',
    section: '3.1.5',
    level: 'MUST',
    text: 'CancelTask of an unknown task is a TaskNotFoundError.',
    async check({ client }) {
      refusedFor(await client.ask('CancelTask', { id: 'nothing' }), 'TASK_NOT_FOUND')
    },
  },
  {
    id: 'CORE-CANCEL-004',
    section: '3.3.1',
    level: 'MUST',
    text: 'Canceling again changes nothing.',
    async check(stage) {
      const { id } = await stage.ask()
      await stage.client.ask('CancelTask', { id })
      const again = await stage.client.ask('CancelTask', { id })
      refusedFor(again, 'TASK_NOT_CANCELABLE')
      assert.equal((await got(stage, { id })).status.state, 'TASK_STATE_CANCELED')
    },
  },
]

const MULTI: readonly Clause[] = [
  {
    id: 'CORE-MULTI-001a',
    section: '3.4.1',
    level: 'MUST',
    text: 'A contextId that the agent made is in the response, another for each task.',
    async check(stage) {
      const [first, second] = [await stage.read(), await stage.read()]
      assert.ok(first.contextId !== '' && first.contextId !== second.contextId)
    },
  },
  {
    id: 'CORE-MULTI-002a',
    section: '3.4.1',
    level: 'MUST',
    text: 'A contextId of the caller is kept, or the message refused.',
    async check(stage) {
      assert.equal((await stage.read({ contextId: 'mine' })).contextId, 'mine')
      const bad = stage.message([{ text: 'x' }], { contextId: 'a\nb' })
      refusedFor(await stage.refused(bad), 'INVALID_REQUEST')
    },
  },
  {
    id: 'CORE-MULTI-003',
    section: '3.4.2',
    level: 'MUST',
    text: 'Every new task has an id of its own.',
    async check(stage) {
      assert.notEqual((await stage.read()).id, (await stage.read()).id)
    },
  },
  {
    id: 'CORE-MULTI-004',
    section: '3.4.2',
    level: 'MUST',
    text: 'A message to an unknown task is a TaskNotFoundError.',
    async check(stage) {
      const message = stage.message([{ text: 'x' }], { taskId: 'nothing' })
      refusedFor(await stage.refused(message), 'TASK_NOT_FOUND')
    },
  },
  {
    id: 'CORE-MULTI-005',
    section: '3.4.3',
    level: 'MUST',
    text: 'A message with a taskId alone belongs to the context of the task.',
    async check(stage) {
      const { id: taskId, contextId } = await stage.ask()
      const data = { skill: 'observe_health' }
      const next = await stage.send(stage.message([{ data }], { taskId }))
      assert.deepEqual([next.id, next.contextId], [taskId, contextId])
    },
  },
  {
    id: 'CORE-MULTI-006',
    section: '3.4.3',
    level: 'MUST',
    text: 'A contextId that is not that of the task is refused.',
    async check(stage) {
      const { id: taskId } = await stage.ask()
      const message = stage.message([{ text: 'x' }], { taskId, contextId: 'another' })
      refusedFor(await stage.refused(message), 'INVALID_REQUEST')
    },
  },
  {
    id: 'CORE-IDEM-001',
    section: '3.3.1',
    level: 'SHOULD',
    text: 'A message that is sent again is the same task, also after it was answered.',
    async check(stage) {
      const message = stage.message([{ text: 'Make it green' }])
      const { id: taskId } = await stage.send(message)
      const data = { skill: 'observe_health' }
      await stage.send(stage.message([{ data }], { taskId }))
      const again = await stage.send(message)
      assert.deepEqual([again.id, again.status.state], [taskId, 'TASK_STATE_COMPLETED'])
      const other = { ...message, parts: [{ text: 'Make it red' }] }
      refusedFor(await stage.refused(other), 'MESSAGE_ID_REUSED')
    },
  },
]

/** Sending, reading, canceling and conversations (section 3). */
export const CORE: readonly Clause[] = [...SEND, ...READ, ...CANCEL, ...MULTI]
