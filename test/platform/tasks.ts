import assert from 'node:assert/strict'
import type { TaskListQuery, TaskMove, TaskPush } from '../../plugins/platform/contract/tasks.ts'
import {
  KEPT_WITHOUT_WORK,
  TASK_STATES,
  placeOfTask,
} from '../../plugins/platform/contract/tasks.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'
import type { PlatformCase } from './harness.ts'
import { openRacers } from './harness.ts'
import {
  insertTask,
  sampleMessage,
  sampleProgress,
  sampleQuestion,
  sampleTask,
} from './task-samples.ts'

const asking = (changes: Partial<TaskListQuery> = {}): TaskListQuery => ({
  key_id: 'key_1',
  apps: null,
  context_id: null,
  state: null,
  since: null,
  limit: 10,
  after: null,
  ...changes,
})

async function listed(store: PlatformStore, changes: Partial<TaskListQuery> = {}) {
  const { rows, more, total } = await store.tasks.list(asking(changes))
  return { ids: rows.map(({ id }) => id), more, total }
}

const moveTo = (state: TaskMove['state'], at: number): TaskMove => ({
  state,
  at,
  failure: null,
  charged: null,
})

const insertCases: readonly PlatformCase[] = [
  {
    name: 'tasks: what is inserted is read as it was, by its key alone',
    async run({ open }) {
      const store = await open()
      const task = sampleTask('task_1', {
        answer: '{"a":1}',
        failure: {
          code: 'edit_failed',
          class: 'request',
          message: 'No file matches $1',
          retryable: false,
          request_id: null,
        },
        charged: 0,
      })
      const [asked, said] = [
        sampleMessage('task_1'),
        sampleMessage('task_1', {
          number: 2,
          role: 'agent',
          message_id: 'm_2',
          stands: false,
        }),
      ]
      assert.equal(await insertTask(store, task, asked, said), true)
      assert.deepEqual(await store.tasks.get('key_1', 'task_1'), task)
      assert.equal(await store.tasks.get('key_2', 'task_1'), undefined)
      assert.deepEqual(await store.tasks.messages('task_1', 9), [asked, said])
      assert.deepEqual(await store.tasks.messages('task_1', 1), [said])
      assert.deepEqual(await store.tasks.messages('task_2', 9), [])
      const sent = (key: string, message: string, about: string) =>
        store.tasks.sent(key, message, about)
      assert.deepEqual(await sent('key_1', 'message_task_1', ''), { task, message: asked })
      assert.equal(await sent('key_2', 'message_task_1', ''), undefined)
      assert.equal(await sent('key_1', 'message_task_1', 'task_0'), undefined)
      assert.equal(await sent('key_1', 'm_2', ''), undefined, 'the agent sent nothing')
    },
  },
  {
    name: 'tasks: of concurrent callers that send one message one inserts a task',
    async run(harness) {
      const racers = await openRacers(harness)
      const inserted = await Promise.all(
        racers.map((store, at) =>
          insertTask(
            store,
            sampleTask(`task_${at}`),
            sampleMessage(`task_${at}`, { message_id: 'same' }),
          ),
        ),
      )
      assert.equal(inserted.filter(Boolean).length, 1)
      const [store] = racers
      const ids = ['task_0', 'task_1']
      const kept = ids[inserted.indexOf(true)] ?? ''
      const lost = ids[inserted.indexOf(false)] ?? ''
      assert.deepEqual(await listed(store), { ids: [kept], more: false, total: 1 })
      assert.deepEqual(await store.tasks.messages(lost, 9), [])
    },
  },
  {
    name: 'tasks: a message of one id, about one task, is one',
    async run({ open }) {
      const store = await open()
      const send = (taskId: string, changes: Parameters<typeof sampleMessage>[1]) =>
        insertTask(
          store,
          sampleTask(taskId),
          sampleMessage(taskId, { message_id: 'm', ...changes }),
        )
      assert.equal(await send('task_1', { fingerprint: 'a' }), true)
      assert.equal(await send('task_2', { fingerprint: 'a' }), false, 'a repetition')
      assert.equal(await send('task_3', { fingerprint: 'b' }), false, 'other words')
      assert.equal(await send('task_4', { about: 'task_1' }), true, 'about a task')
      assert.equal(await send('task_5', { key_id: 'key_2' }), true, 'another key')
      assert.equal((await store.tasks.sent('key_1', 'm', ''))?.task.id, 'task_1')
      assert.equal((await store.tasks.sent('key_1', 'm', 'task_1'))?.task.id, 'task_4')
    },
  },
  {
    name: 'tasks: an account keeps its newest tasks without work, by number and bytes',
    async run({ open }) {
      const store = await open()
      const bytes = KEPT_WITHOUT_WORK.bytes / 4
      const ask = (index: number, text: string) =>
        insertTask(
          store,
          sampleQuestion(`task_${index}`, { state_at: BORN + index, asked: { input: {}, text } }),
          sampleMessage(`task_${index}`),
        )
      await insertTask(store, sampleTask('task_work', { state_at: BORN }))
      for (let index = 0; index < 5; index += 1) await ask(index, 'x'.repeat(bytes))
      const kept: string[] = []
      for (const id of ['task_work', 'task_0', 'task_1', 'task_2', 'task_3', 'task_4']) {
        if ((await store.tasks.get('key_1', id)) !== undefined) kept.push(id)
      }
      assert.deepEqual(kept, ['task_work', 'task_2', 'task_3', 'task_4'])
      assert.equal((await listed(store)).ids.length, 1, 'a page ends by its bytes')
      assert.deepEqual(await store.tasks.messages('task_1', 9), [])
      assert.equal(await ask(1, 'short'), true, 'its message may be sent again')
    },
  },
  {
    name: 'tasks: a key that writes much deletes its own tasks alone, down to its share',
    async run({ open }) {
      const store = await open()
      const ask = (key_id: string, index: number, text: string) => {
        const id = `${key_id}_${index}`
        const changes = { key_id, state_at: BORN + index, asked: { input: {}, text } }
        return insertTask(store, sampleQuestion(id, changes), sampleMessage(id, { key_id }))
      }
      const kept = async (key: string) => (await listed(store, { key_id: key, limit: 9 })).total
      await ask('key_2', 0, 'short')
      const text = 'x'.repeat(KEPT_WITHOUT_WORK.bytes / 4)
      for (let index = 1; index < 6; index += 1) await ask('key_1', index, text)
      assert.equal(await kept('key_2'), 1)
      assert.equal(await kept('key_1'), 3)
      for (let index = 6; index < 9; index += 1) await ask('key_2', index, text)
      assert.equal(await kept('key_1'), 3)
      assert.equal(await kept('key_2'), 1, 'the newest')
    },
  },
  {
    name: 'tasks: the messages of several are read at once, and what they take',
    async run({ open }) {
      const store = await open()
      for (const id of ['task_1', 'task_2']) {
        const numbered = (number: number) =>
          sampleMessage(id, { number, message_id: `${id}_${number}`, about: String(number) })
        await insertTask(store, sampleTask(id), ...[1, 2, 3].map(numbered))
      }
      const found = await store.tasks.messagesOfEach(['task_2', 'task_1', 'task_0'], 2)
      for (const id of ['task_0', 'task_1', 'task_2']) {
        assert.deepEqual(found.get(id), await store.tasks.messages(id, 2))
      }
      const sizes = await store.tasks.sizes(['task_1', 'task_0'])
      assert.deepEqual([...sizes.keys()], ['task_1'])
      assert.ok((sizes.get('task_1') ?? 0) > 150)
    },
  },
]

const proceedCases: readonly PlatformCase[] = [
  {
    name: 'tasks: an answered question has its work, and remains the task of its message',
    async run({ open }) {
      const store = await open()
      const question = sampleMessage('task_1', { message_id: 'q' })
      await insertTask(store, sampleQuestion('task_1'), question)
      const answer = sampleMessage('task_1', { number: 2, message_id: 'a', about: 'task_1' })
      const next = sampleProgress()
      assert.equal(await store.write((tx) => tx.tasks.proceed('task_1', next, [answer])), true)
      const { at, ...changed } = next
      assert.deepEqual(await store.tasks.get('key_1', 'task_1'), {
        ...sampleQuestion('task_1'),
        ...changed,
        state_at: at,
        updated_at: at,
      })
      assert.deepEqual(await store.tasks.messages('task_1', 9), [question, answer])
      const again = sampleMessage('task_2', { message_id: 'q' })
      assert.equal(await insertTask(store, sampleQuestion('task_2'), again), false)
      assert.equal(
        await store.write((tx) => tx.tasks.proceed('task_1', next, [])),
        false,
        'answered',
      )
    },
  },
  {
    name: 'tasks: of concurrent answers to one question one is taken, and no message of the other',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertTask(store, sampleQuestion('task_1'), sampleMessage('task_1'))
      const taken = await Promise.all(
        racers.map((one, at) => {
          const answer = sampleMessage('task_1', {
            number: 2,
            message_id: `a_${at}`,
            about: 'task_1',
          })
          return one.write((tx) =>
            tx.tasks.proceed('task_1', sampleProgress({ subject_id: `edit_${at}` }), [answer]),
          )
        }),
      )
      assert.equal(taken.filter(Boolean).length, 1)
      const winner = taken.indexOf(true)
      assert.equal((await store.tasks.get('key_1', 'task_1'))?.subject_id, `edit_${winner}`)
      const messages = await store.tasks.messages('task_1', 9)
      assert.deepEqual(
        messages.map(({ message_id }) => message_id),
        ['message_task_1', `a_${winner}`],
      )
    },
  },
]

const moveCases: readonly PlatformCase[] = [
  {
    name: 'tasks: a task follows its edit and never leaves a final state',
    async run({ open }) {
      const store = await open()
      await insertTask(store, sampleTask('task_1'))
      const move = (to: TaskMove) => store.write((tx) => tx.tasks.move('edit_task_1', to))
      const working = await move(moveTo('working', BORN + 1))
      assert.deepEqual(working, {
        ...sampleTask('task_1'),
        state: 'working',
        state_at: BORN + 1,
        started_at: BORN + 1,
        updated_at: BORN + 1,
      })
      assert.equal(await move(moveTo('working', BORN + 2)), undefined, 'begun again')
      const failure = {
        code: 'editor_failed',
        class: 'transient',
        message: 'The model does not answer.',
        retryable: true,
        request_id: null,
      }
      const failed = await move({ state: 'failed', at: BORN + 3, failure, charged: 0 })
      assert.deepEqual(failed && [failed.state, failed.failure, failed.charged], [
        'failed',
        failure,
        0,
      ])
      for (const state of ['working', 'completed', 'canceled'] as const) {
        assert.equal(await move(moveTo(state, BORN + 4)), undefined, state)
      }
      assert.deepEqual(await store.tasks.get('key_1', 'task_1'), failed)
      assert.equal(
        await store.write((tx) => tx.tasks.move('edit_0', moveTo('working', BORN))),
        undefined,
        'most edits have no task',
      )
    },
  },
  {
    name: 'tasks: a clock that was set back does not move the instant of a state back',
    async run({ open }) {
      const store = await open()
      await insertTask(store, sampleTask('task_1', { state_at: BORN + 10 }))
      const moved = await store.write((tx) => tx.tasks.move('edit_task_1', moveTo('working', BORN)))
      assert.deepEqual([moved?.state_at, moved?.updated_at], [BORN + 10, BORN])
    },
  },
]

const listCases: readonly PlatformCase[] = [
  {
    name: 'tasks: a list is newest state first, and pages find each once, equal instants too',
    async run({ open }) {
      const store = await open()
      const at = [3, 1, 2, 2, 2]
      for (const [index, more] of at.entries()) {
        await insertTask(store, sampleTask(`task_${index}`, { state_at: BORN + more }))
      }
      await insertTask(
        store,
        sampleTask('task_9', { key_id: 'key_2' }),
        sampleMessage('task_9', { key_id: 'key_2' }),
      )
      const found: string[] = []
      let after: string | null = null
      for (let more = true; more;) {
        const page = await store.tasks.list(asking({ limit: 2, after }))
        assert.equal(page.total, 5, 'of all pages')
        for (const { id } of page.rows) found.push(id)
        const last = page.rows.at(-1)
        after = last === undefined ? after : placeOfTask(last)
        more = page.more
      }
      assert.deepEqual(found, ['task_0', 'task_4', 'task_3', 'task_2', 'task_1'])
    },
  },
  {
    name: 'tasks: a list is narrowed by context, state, instant and the apps of the key',
    async run({ open }) {
      const store = await open()
      for (const [index, state] of TASK_STATES.entries()) {
        await insertTask(
          store,
          sampleTask(`task_${index}`, {
            state,
            state_at: BORN + index,
            context_id: `context_${index % 2}`,
            app_id: index === 6 ? null : `app_${index % 3}`,
          }),
        )
      }
      const only = async (changes: Partial<TaskListQuery>) => {
        const { ids, total } = await listed(store, changes)
        assert.equal(total, ids.length)
        return ids.toSorted()
      }
      for (const [index, state] of TASK_STATES.entries()) {
        assert.deepEqual(await only({ state }), [`task_${index}`], state)
      }
      assert.deepEqual(await only({ context_id: 'context_1' }), ['task_1', 'task_3', 'task_5'])
      assert.deepEqual(await only({ since: BORN + 5 }), ['task_5', 'task_6'])
      assert.deepEqual(await only({ apps: ['app_1', 'app_9'] }), ['task_1', 'task_4', 'task_6'])
      assert.deepEqual(await only({ apps: [] }), ['task_6'])
      assert.deepEqual(
        await only({ context_id: 'context_1', apps: ['app_0', 'app_1'], since: BORN + 2 }),
        ['task_3'],
      )
    },
  },
  {
    name: 'tasks: what is old expires with its messages, whatever its state',
    async run({ open }) {
      const store = await open()
      for (const [index, state] of TASK_STATES.entries()) {
        await insertTask(store, sampleTask(`task_${index}`, { state }))
      }
      await insertTask(store, sampleTask('task_new', { state: 'completed', state_at: BORN + 1 }))
      assert.equal(await store.purge('agent_tasks', BORN, 9), 0)
      assert.equal(await store.purge('agent_tasks', BORN + 1, 3), 3)
      assert.equal(await store.purge('agent_tasks', BORN + 1, 9), 4)
      assert.deepEqual((await listed(store)).ids, ['task_new'])
      assert.deepEqual(await store.tasks.messages('task_2', 9), [])
    },
  },
]

const pushCases: readonly PlatformCase[] = [
  {
    name: 'tasks: a push has one id in its task, and is found once its task has ended',
    async run({ open }) {
      const store = await open()
      await insertTask(store, sampleTask('task_1'))
      const push: TaskPush = {
        task_id: 'task_1',
        id: 'p',
        account_id: ACCOUNT,
        webhook_id: 'wh_1',
        scheme: null,
        created_at: BORN,
      }
      const other: TaskPush = { ...push, id: 'q', scheme: 'Bearer' }
      const replaced = { ...push, webhook_id: 'wh_2' }
      await store.write(async (tx) => {
        for (const one of [push, other, replaced]) await tx.tasks.putPush(one)
      })
      assert.deepEqual(await store.tasks.pushes('task_1'), [replaced, other])
      assert.deepEqual(await store.tasks.pushes('task_2'), [])
      const ended = (account: string | null, before: number) =>
        store.tasks.endedPushes(account, before, 9)
      assert.deepEqual(await ended(ACCOUNT, BORN + 9), [])
      await store.write((tx) => tx.tasks.move('edit_task_1', moveTo('completed', BORN + 5)))
      assert.deepEqual(await ended(ACCOUNT, BORN + 9), [replaced, other])
      assert.deepEqual(await ended(null, BORN + 6), [replaced, other])
      assert.deepEqual(await ended(null, BORN + 5), [], 'not so long ago')
      assert.deepEqual(await ended('acc_0', BORN + 9), [])
      const drop = (one: TaskPush) => store.write((tx) => tx.tasks.dropPush(one))
      assert.equal(await drop(push), false, 'it was replaced')
      assert.deepEqual(await store.tasks.pushes('task_1'), [replaced, other])
      assert.equal(await drop(other), true)
      assert.equal(await drop(other), false, 'again')
      await store.purge('agent_tasks', BORN + 9, 9)
      assert.deepEqual(await ended(null, BORN), [replaced], 'its task is gone')
    },
  },
]

/** Of tasks of agents: what inserts them, moves them and lists them. */
export const taskCases: readonly PlatformCase[] = [
  ...insertCases,
  ...proceedCases,
  ...moveCases,
  ...listCases,
  ...pushCases,
]
