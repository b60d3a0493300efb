import t from 'tap'
import { insertTask, sampleMessage, sampleTask } from '../platform/task-samples.ts'
import { until } from '../support/daemon.ts'
import { startDeployer } from '../support/deploys.ts'
import { BINDINGS, createA2aClient } from './client.ts'
import type { WireTask } from './stage.ts'
import { SCOPES, createStage } from './stage.ts'

for (const binding of BINDINGS) {
  void t.test(`${binding}: an edit is one task, from the message to its artifacts`, async (t) => {
    const stage = await createStage(t, binding)
    const { held, client, app } = stage
    const metadata = { skill: 'edits_create' }
    const message = stage.message([{ text: 'green' }], { metadata })
    const task = await stage.send(message, { returnImmediately: true })
    t.match(task.status.state, /SUBMITTED|WORKING/)
    await held.until('green')
    const working = (await client.ask('GetTask', { id: task.id })).result as WireTask | undefined
    t.match(working, {
      id: task.id,
      contextId: task.contextId,
      status: { state: 'TASK_STATE_WORKING' },
      history: [{ messageId: message['messageId'], parts: [{ text: 'green' }] }],
    })
    t.notOk(working?.artifacts)
    // The same message waits for the same task.
    const again = stage.send(message)
    await held.release('green')
    const done = await again
    t.equal(done.id, task.id)
    t.equal(done.status.state, 'TASK_STATE_COMPLETED')
    t.match(done.artifacts?.[0], {
      artifactId: 'record',
      parts: [{ data: { app_id: app, status: 'completed', result_revision: 2 } }],
    })
    const edits = await stage.world.request<{ data: unknown[] }>('GET', `/v1/apps/${app}/edits`)
    t.equal(edits.body.data.length, 1)
  })

  void t.test(`${binding}: many that send one message have one task and one edit`, async (t) => {
    const stage = await createStage(t, binding)
    const metadata = { skill: 'edits_create' }
    const message = stage.message([{ text: 'green' }], { metadata })
    const configuration = { returnImmediately: true }
    const tasks = await Promise.all(
      Array.from({ length: 12 }, () => stage.send(message, configuration)),
    )
    t.equal(new Set(tasks.map(({ id }) => id)).size, 1)
    const edits = await stage.world.request<{ data: unknown[] }>(
      'GET',
      `/v1/apps/${stage.app}/edits`,
    )
    t.equal(edits.body.data.length, 1)
    const other = await stage.refused({ ...message, parts: [{ text: 'red' }] })
    t.match(other.error?.details, [{ reason: 'MESSAGE_ID_REUSED' }])
  })

  void t.test(`${binding}: a question is answered in the same task`, async (t) => {
    const stage = await createStage(t, binding)
    const { world, held } = stage
    const body = { template_id: 'blank', name: 'Florist' }
    await world.request('POST', '/v1/apps', { body })
    const first = await stage.ask()
    t.match(first.status, {
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { role: 'ROLE_AGENT', parts: [{ text: /Which skill/ }, { data: { skills: {} } }] },
    })
    const next = { taskId: first.id }
    const second = await stage.send(stage.message([{ data: { skill: 'edits_create' } }], next))
    t.match([second.id, second.status.state], [first.id, 'TASK_STATE_INPUT_REQUIRED'])
    t.match(second.status.message, { parts: [{ text: /Which app/ }, { data: { apps: {} } }] })
    const answer = stage.message([{ text: 'the bakery' }], next)
    const third = await stage.send(answer, { returnImmediately: true })
    t.equal(third.id, first.id)
    await held.until('Make it green')
    t.equal((await stage.send(answer, { returnImmediately: true })).id, first.id)
    await held.release('Make it green')
    const done = (await stage.send(answer)) as WireTask
    t.match(done, { id: first.id, status: { state: 'TASK_STATE_COMPLETED' } })
    t.match(
      done.history?.map(({ role }) => role),
      ['ROLE_USER', 'ROLE_AGENT', 'ROLE_USER', 'ROLE_AGENT', 'ROLE_USER'],
    )
    t.match(done.artifacts?.[0], { parts: [{ data: { app_id: stage.app } }] })
  })

  void t.test(`${binding}: what failed or was refused says why, and what it cost`, async (t) => {
    const stage = await createStage(t, binding)
    const { held, client } = stage
    const task = await stage.edit('green')
    await held.until('green')
    const canceling = client.ask('CancelTask', { id: task.id })
    await until('aborted', () => held.aborted.length > 0)
    await held.release('green')
    t.match((await canceling).result, { id: task.id, status: { state: 'TASK_STATE_CANCELED' } })
    const canceled = (await client.ask('GetTask', { id: task.id })).result as WireTask | undefined
    t.match(canceled?.status.message, {
      parts: [{ text: /canceled/ }, { data: { code: 'canceled', chargedMicros: 0 } }],
    })
    await stage.world.request('DELETE', `/v1/apps/${stage.app}`)
    const input = { app_id: stage.app }
    const data = { skill: 'edits_create', input }
    const rejected = await stage.send(stage.message([{ data }, { text: 'red' }]))
    t.match(rejected.status, {
      state: 'TASK_STATE_REJECTED',
      message: { parts: [{}, { data: { code: 'app_archived', chargedMicros: 0 } }] },
    })
  })

  void t.test(`${binding}: a deployment is one task, and a price is an answer`, async (t) => {
    const stage = await createStage(t, binding)
    const { world, client } = stage
    const metadata = { skill: 'deploy_publish' }
    const price = stage.message([{ data: { dry_run: true } }], { metadata })
    t.match(await stage.send(price), {
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'answer', parts: [{ data: { dry_run: true } }] }],
    })
    const message = stage.message([{ text: 'Opening hours' }], { metadata })
    const task = await stage.send(message, { returnImmediately: true })
    t.match(task.status.state, 'TASK_STATE_SUBMITTED')
    startDeployer(t, world)
    const live = await stage.send(message)
    t.match(live, { id: task.id, status: { state: 'TASK_STATE_COMPLETED' } })
    t.match(live.artifacts, [
      { artifactId: 'record', parts: [{ data: { status: 'live', message: 'Opening hours' } }] },
      { artifactId: 'release', parts: [{ url: /^http/, mediaType: 'text/html' }] },
    ])
    const late = await client.ask('CancelTask', { id: task.id })
    t.match(late.error?.details, [{ reason: 'TASK_NOT_CANCELABLE' }])
  })

  void t.test(`${binding}: work that no family reports ends when it is looked at`, async (t) => {
    const { world, client, app, keyId } = await createStage(t, binding)
    const { store } = world.platform
    const task = sampleTask('lost', {
      account_id: world.account.id,
      key_id: keyId,
      skill: 'apps.create',
      app_id: app,
      record_path: `/v1/apps/${app}`,
      state_at: 0,
      updated_at: 0,
    })
    await insertTask(store, task, sampleMessage('lost', { key_id: keyId }))
    t.match((await client.ask('GetTask', { id: 'lost' })).result, {
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'record', parts: [{ data: { id: app } }] }],
    })
    t.match(await store.tasks.get(keyId, 'lost'), { state: 'completed', charged: 0 })
  })

  void t.test(`${binding}: the messages of a page are read at once, in turn`, async (t) => {
    const stage = await createStage(t, binding)
    const { world, client } = stage
    const { store, queues } = world.platform
    for (let count = 0; count < 3; count += 1) {
      await stage.ask({ metadata: { long: 'x'.repeat(200_000) } })
    }
    const reads = { one: 0, several: 0 }
    const { messages, messagesOfEach } = store.tasks
    Object.assign(store.tasks, {
      messages: (...given: Parameters<typeof messages>) => {
        reads.one += 1
        return messages(...given)
      },
      messagesOfEach: (...given: Parameters<typeof messagesOfEach>) => {
        reads.several += 1
        return messagesOfEach(...given)
      },
    })
    const { result } = await client.ask('ListTasks', { historyLength: 5 })
    const tasks = (result?.['tasks'] ?? []) as WireTask[]
    t.same(
      tasks.map(({ history, status }) => [history?.length, status.state]),
      [
        [2, 'TASK_STATE_INPUT_REQUIRED'],
        [2, 'TASK_STATE_INPUT_REQUIRED'],
        [2, 'TASK_STATE_INPUT_REQUIRED'],
      ],
    )
    t.match(tasks[0]?.status.message, { parts: [{ text: /Which/ }, {}] })
    t.same(reads, { one: 0, several: 1 })
    // All turns are taken, and the next one is that of this account.
    const ends: (() => void)[] = []
    const taken = Array.from({ length: 4 }, (_, at) =>
      queues.largePages(
        { holder: `other-${at}` },
        () => new Promise<void>((end) => ends.push(end)),
      ),
    )
    await until('all are taken', () => ends.length === 4)
    let isAnswered = false
    const asked = client.ask('GetTask', { id: tasks[0]?.id }).then((reply) => {
      isAnswered = true
      return reply
    })
    await client.ask('GetTask', { id: 'nothing' })
    t.equal(isAnswered, false)
    for (const end of ends) end()
    t.match((await asked).result, { history: { length: 2 } })
    await Promise.all(taken)
  })

  void t.test(`${binding}: a key sees its tasks alone, and those of its apps`, async (t) => {
    const stage = await createStage(t, binding)
    const { world, client } = stage
    const task = await stage.read()
    const other = await world.mintKey({ scopes: SCOPES })
    const stranger = stage.clientOf(other.key)
    for (const method of ['GetTask', 'CancelTask']) {
      const foreign = await stranger.ask(method, { id: task.id })
      const unknown = await stranger.ask(method, { id: 'nothing' })
      t.match(foreign.error?.details, [{ reason: 'TASK_NOT_FOUND' }], method)
      t.same(foreign.error, unknown.error, method)
    }
    t.match((await stranger.ask('ListTasks')).result, { tasks: [], totalSize: 0 })
    t.match((await client.ask('ListTasks')).result, { tasks: [{ id: task.id }], totalSize: 1 })
  })

  void t.test(
    `${binding}: a skill without its scope is not offered, and refused as REST refuses`,
    async (t) => {
      const stage = await createStage(t, binding)
      const { key } = await stage.world.mintKey({ scopes: ['observe:read', 'apps:read'] })
      const client = createA2aClient(stage.world, key, binding)
      const message = stage.message([{ text: 'red' }], { metadata: { skill: 'edits_create' } })
      const refused = await client.ask('SendMessage', { message })
      t.match(refused.error?.details, [{ reason: 'INVALID_REQUEST' }, { fieldViolations: [{}] }])
      t.match(refused.text, 'Allowed: observe_health.')
    },
  )

  void t.test(`${binding}: nobody without a developer key is answered`, async (t) => {
    const stage = await createStage(t, binding)
    for (const key of ['', 'kh_live_wrong']) {
      const path = binding === 'JSONRPC' ? '/a2a' : '/a2a/tasks'
      const method = binding === 'JSONRPC' ? 'POST' : 'GET'
      const headers: Record<string, string> = key === '' ? {} : { authorization: `Bearer ${key}` }
      const response = await fetch(`${stage.world.baseUrl}${path}`, { method, headers })
      t.equal(response.status, 401)
      t.match(response.headers.get('www-authenticate'), /^Bearer/)
    }
  })
}
