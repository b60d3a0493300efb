import type { Test } from 'tap'
import t from 'tap'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { deleteEndedPushes } from '../../daemon/worker/ended-pushes.ts'
import { eventsFamily } from '../../daemon/families/events/family.ts'
import { auditFamily } from '../../daemon/families/audit/family.ts'
import { signatureHeader } from '../../lib/webhook/sign.ts'
import { DAY } from '../../lib/time.ts'
import { until } from '../support/daemon.ts'
import type { Receiver } from '../support/receiver.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import type { Binding, Reply } from './client.ts'
import { BINDINGS } from './client.ts'
import type { Stage } from './stage.ts'
import { SCOPES, createStage } from './stage.ts'

const PUSHING = [...SCOPES, 'webhooks:*']
const OK = answerWith('HTTP/1.1 204 No Content\r\n\r\n')

interface Setting extends Stage {
  readonly receiver: Receiver
  /** Address of the receiver. */
  readonly url: string
}

async function createSetting(
  t: Parameters<typeof createStage>[0],
  binding: Binding,
): Promise<Setting> {
  const families = [webhooksFamily, eventsFamily, auditFamily]
  const stage = await createStage(t, binding, { scopes: PUSHING, families })
  const receiver = await startReceiver(OK)
  t.teardown(() => receiver.close())
  return { ...stage, receiver, url: `http://127.0.0.1:${receiver.port}/hook?a=b` }
}

/** The states that were received, in order. */
const statesOf = ({ requests }: Receiver): readonly unknown[] =>
  requests.map(({ body }) => {
    const { statusUpdate } = JSON.parse(body) as { statusUpdate: { status: { state: string } } }
    return statusUpdate.status.state
  })

const received = (receiver: Receiver, state: string) =>
  until(`received ${state}`, () => statesOf(receiver).includes(state))

type Row = Readonly<Record<string, unknown>>

async function webhooksOf({ world }: Setting): Promise<readonly (Row & { readonly id: string })[]> {
  const { body } = await world.request<{ data: { id: string }[] }>('GET', '/v1/webhooks?limit=100')
  return body.data
}

/** Newest first. */
async function auditOf({ world }: Setting, action: string): Promise<readonly Row[]> {
  const path = `/v1/audit-log?limit=100&action=${action}`
  return (await world.request<{ data: Row[] }>('GET', path)).body.data
}

const edit = { metadata: { skill: 'edits_create' } }

function refusedFor(t: Test, reply: Reply, reason: string): void {
  t.match(reply.error?.details, [{ reason }], reply.text)
}

/** It names the field as the request has it. */
function refusedAt(t: Test, reply: Reply, reason: string, field: string): void {
  t.match(reply.error?.details, [{ reason }, { fieldViolations: [{ field }] }], reply.text)
}

for (const binding of BINDINGS) {
  void t.test(`${binding}: updates are pushed signed, with what was asked for`, async (t) => {
    const stage = await createSetting(t, binding)
    const { client, receiver, held, url, world } = stage
    const taskPushNotificationConfig = {
      url,
      token: 'of-the-client',
      authentication: { scheme: 'Bearer', credentials: 'secret-7f3a' },
    }
    const message = stage.message([{ text: 'green' }], edit)
    const configuration = { returnImmediately: true, taskPushNotificationConfig }
    const task = await stage.send(message, configuration)
    t.equal((await stage.send(message, configuration)).id, task.id, 'again')
    const listed = await client.ask('ListTaskPushNotificationConfigs', { taskId: task.id })
    t.match(listed.result, {
      configs: [{ id: task.id, taskId: task.id, url, authentication: { scheme: 'Bearer' } }],
    })
    t.match(listed.result, { configs: { length: 1 } })
    t.notMatch(listed.text, /secret-7f3a|of-the-client/)
    const webhooks = await world.request<{ data: { id: string }[] }>('GET', '/v1/webhooks')
    t.match(webhooks.body.data, [{ url, events: [], apps: [stage.app] }])
    const webhook = webhooks.body.data[0]?.id ?? ''
    const path = `/v1/webhooks/${webhook}/rotate-secret`
    const rotated = await world.request('POST', path, { body: { overlap_seconds: 0 } })
    const secret = String(rotated.body['secret'])
    await held.release('green')
    await received(receiver, 'TASK_STATE_COMPLETED')
    const { head, body } = receiver.requests.at(-1) ?? { head: '', body: '' }
    t.same(JSON.parse(body).statusUpdate.taskId, task.id)
    t.same(Object.keys(JSON.parse(body) as object), ['statusUpdate'], 'no envelope')
    t.match(head, /^X-A2A-Notification-Token: of-the-client\r$/im)
    t.match(head, /^Authorization: Bearer secret-7f3a\r$/im)
    const [, signed = '', at = ''] = /^\w+-Signature: (t=(\d+),\S+)\r$/im.exec(head) ?? []
    t.equal(signed, signatureHeader(Number(at), Buffer.from(body), [secret]))
    // What another task does is not pushed.
    const before = receiver.requests.length
    const other = await stage.edit('red')
    await held.release('red')
    t.equal((await stage.send(stage.message([{ text: 'x' }], {}))).id === other.id, false)
    t.equal(receiver.requests.length, before)
  })

  void t.test(`${binding}: configurations are made, read, replaced and deleted`, async (t) => {
    const stage = await createSetting(t, binding)
    const { client, url } = stage
    const { id: taskId } = await stage.ask()
    const create = (more: object) =>
      client.ask('CreateTaskPushNotificationConfig', { taskId, url, ...more })
    t.match((await create({ id: 'mine' })).result, { id: 'mine', taskId, url })
    await received(stage.receiver, 'TASK_STATE_INPUT_REQUIRED')
    const named = (await create({})).result as { id: string } | undefined
    t.match(named?.id, /.{20}/, 'an id is made')
    const get = (id: string) => client.ask('GetTaskPushNotificationConfig', { taskId, id })
    t.match((await get('mine')).result, { id: 'mine', taskId, url })
    refusedFor(t, await get('nothing'), 'TASK_NOT_FOUND')
    await create({ id: 'mine', url: `${url}&c=d` })
    t.match((await get('mine')).result, { url: `${url}&c=d` })
    const remove = () => client.ask('DeleteTaskPushNotificationConfig', { taskId, id: 'mine' })
    for (const time of ['first', 'again']) {
      t.equal((await remove()).error, undefined, time)
      refusedFor(t, await get('mine'), 'TASK_NOT_FOUND')
    }
    const left = await client.ask('ListTaskPushNotificationConfigs', { taskId })
    t.match(left.result, { configs: { length: 1 } })
    refusedAt(t, await create({ url: 'https://10.0.0.1/' }), 'URL_NOT_PUBLIC', 'url')
    refusedAt(t, await create({ url: 'nothing' }), 'INVALID_URL', 'url')
    refusedAt(t, await create({ token: 'a\r\nb' }), 'INVALID_REQUEST', 'token')
    const credentials = 'a\r\nb'
    const authentication = { scheme: 'Bearer', credentials }
    refusedAt(t, await create({ authentication }), 'INVALID_REQUEST', 'authentication')
    for (let count = 2; count <= 10; count += 1) await create({ id: `p${count}` })
    refusedFor(t, await create({ id: 'p11' }), 'TOO_MANY_PUSHES')
    const configuration = { taskPushNotificationConfig: { url, id: 'p11' } }
    const message = stage.message([{ text: 'green' }], { ...edit, taskId })
    const answered = await client.ask('SendMessage', { message, configuration })
    refusedFor(t, answered, 'TOO_MANY_PUSHES')
    const asked = await client.ask('GetTask', { id: taskId })
    t.match(asked.result, { status: { state: 'TASK_STATE_INPUT_REQUIRED' } }, 'nothing began')
    const [deleted] = await webhooksOf(stage)
    await stage.world.request('DELETE', `/v1/webhooks/${deleted?.id}`)
    t.equal((await create({ id: 'p11' })).error, undefined, 'one without a webhook does not count')
    const stranger = stage.clientOf((await stage.world.mintKey({ scopes: PUSHING })).key)
    const foreign = { taskId, url, id: 'mine' }
    for (const method of ['Create', 'Get', 'Delete']) {
      const reply = await stranger.ask(`${method}TaskPushNotificationConfig`, foreign)
      refusedFor(t, reply, 'TASK_NOT_FOUND')
    }
    const made = { type: 'key', id: stage.keyId }
    const origins = { created_by: made, set_by: made }
    for (const action of ['webhook.created', 'webhook.deleted']) {
      const entries = await auditOf(stage, action)
      const ofPush = entries.find(({ protocol }) => protocol === 'a2a')
      t.match(ofPush, { protocol: 'a2a', client: 'node', actor: made }, action)
      t.match(entries.at(-1)?.['origins'], origins, `${action}, the first: a push was replaced`)
    }
  })

  void t.test(`${binding}: a push whose webhook is disabled is made again`, async (t) => {
    const stage = await createSetting(t, binding)
    const { id: taskId } = await stage.ask()
    const push = { taskId, id: 'mine', url: stage.url }
    const create = () => stage.client.ask('CreateTaskPushNotificationConfig', push)
    await create()
    const [first] = await webhooksOf(stage)
    await create()
    t.match(await webhooksOf(stage), [{ id: first?.id, status: 'active' }], 'the same again')
    const body = { status: 'disabled' }
    const disabled = await stage.world.request('PATCH', `/v1/webhooks/${first?.id}`, { body })
    t.match(disabled.body, { status: 'disabled' })
    t.match((await create()).result, push)
    const now = await webhooksOf(stage)
    t.match(now, [{ status: 'active' }])
    t.equal(now.length, 1)
    t.not(now[0]?.id, first?.id)
  })

  void t.test(
    `${binding}: a push needs webhooks:write, and begins no work without it`,
    async (t) => {
      const stage = await createSetting(t, binding)
      const { key } = await stage.world.mintKey({ scopes: SCOPES })
      const client = stage.clientOf(key)
      const message = stage.message([{ text: 'green' }], edit)
      for (const url of [stage.url, 'https://192.168.0.1/']) {
        const configuration = { taskPushNotificationConfig: { url } }
        const reply = await client.ask('SendMessage', { message, configuration })
        refusedFor(t, reply, 'INSUFFICIENT_SCOPE')
      }
      t.match((await client.ask('ListTasks')).result, { totalSize: 0 })
      const configuration = { taskPushNotificationConfig: { url: 'https://192.168.0.1/' } }
      const refused = await stage.client.ask('SendMessage', { message, configuration })
      const field = 'configuration.taskPushNotificationConfig'
      refusedAt(t, refused, 'URL_NOT_PUBLIC', `${field}.url`)
      const token = { taskPushNotificationConfig: { url: stage.url, token: 'a\r\nb' } }
      const untold = await stage.client.ask('SendMessage', { message, configuration: token })
      refusedAt(t, untold, 'INVALID_REQUEST', `${field}.token`)
      t.match((await stage.client.ask('ListTasks')).result, { totalSize: 0 })
    },
  )
}

void t.test('webhooks of tasks that have ended make room, and go after some days', async (t) => {
  const stage = await createSetting(t, 'JSONRPC')
  const { client, receiver, url, world } = stage
  for (let count = 0; count < 50; count += 1) {
    const { id: taskId } = await stage.ask()
    const made = await client.ask('CreateTaskPushNotificationConfig', { taskId, url })
    t.equal(made.error, undefined)
    if (count < 10) await client.ask('CancelTask', { id: taskId })
  }
  await until('all are delivered', () => receiver.requests.length === 60)
  const { id: taskId } = await stage.ask()
  await until('there is room', async () => {
    const made = await client.ask('CreateTaskPushNotificationConfig', { taskId, url })
    return made.error === undefined
  })
  const count = async () => (await world.platform.store.webhooksOf(world.account.id)).length
  t.equal(await count(), 41)
  await client.ask('CancelTask', { id: taskId })
  const { platform } = world
  t.equal(await deleteEndedPushes(platform, platform.clock.now()), 0)
  t.equal(await deleteEndedPushes(platform, platform.clock.now() + 5 * DAY), 1)
  t.equal(await count(), 40)
  const deleted = await auditOf(stage, 'webhook.deleted')
  t.equal(deleted.length, 11)
  const origins = { created_by: { type: 'key', id: stage.keyId } }
  t.match(deleted[0], { actor: { type: 'operator', id: null }, protocol: null, origins })
})

void t.test('a message whose push has no room begins no work', async (t) => {
  const stage = await createSetting(t, 'JSONRPC')
  const { client, receiver, url, world } = stage
  const { id: taskId } = await stage.ask()
  await client.ask('CreateTaskPushNotificationConfig', { taskId, url })
  await until('it is delivered', () => receiver.requests.length === 1)
  const sent = stage.message([{ text: 'Make it green' }])
  const before = await stage.send(sent)
  for (let made = 1; made < 50; made += 1) {
    const body = { url, events: ['app.deployed'] }
    t.equal((await world.request('POST', '/v1/webhooks', { body })).status, 201)
  }
  const message = stage.message([{ text: 'green' }], edit)
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { url } }
  const refused = await client.ask('SendMessage', { message, configuration })
  refusedFor(t, refused, 'WEBHOOK_LIMIT_REACHED')
  t.match((await client.ask('ListTasks')).result, { totalSize: 2 }, 'no task was made')
  // What was begun is answered with its task, which has no push.
  t.equal((await stage.send(sent, configuration)).id, before.id)
  const none = await client.ask('ListTaskPushNotificationConfigs', { taskId: before.id })
  t.match(none.result, { configs: { length: 0 } })
  // The webhook of an ended task leaves its room.
  await client.ask('CancelTask', { id: taskId })
  await until('its end is delivered', () => receiver.requests.length === 2)
  await until('there is room', async () => {
    const asked = await client.ask('SendMessage', { message, configuration })
    return asked.error === undefined
  })
  const listed = await client.ask('ListTasks')
  const [task] = (listed.result as unknown as { tasks: { id: string }[] }).tasks
  const pushed = await client.ask('ListTaskPushNotificationConfigs', { taskId: task?.id })
  t.match(pushed.result, { configs: [{ id: task?.id, url }] })
})

void t.test('what is pushed is for the key of the task alone', async (t) => {
  const stage = await createSetting(t, 'JSONRPC')
  const { client, receiver, url, world } = stage
  const { id: taskId } = await stage.ask()
  await client.ask('CreateTaskPushNotificationConfig', { taskId, url })
  await received(receiver, 'TASK_STATE_INPUT_REQUIRED')
  const { store } = world.platform
  const all = { since: null, until: null, apps: null, order: 'asc', bodies: false } as const
  const query = { ...all, account_id: world.account.id, after: null, limit: 100 }
  const { rows } = await store.events.list({ ...query, types: ['task.updated'] })
  t.equal(rows.length, 1, 'it is stored')
  const ask = (method: string, path: string, body?: object) =>
    world.request<{ id: string; data: { type: string }[]; code: string }>(method, path, {
      ...(body && { body }),
    })
  for (const path of ['/v1/events', '/v1/events?order=asc', '/v1/events?type=task.updated']) {
    const { body } = await ask('GET', path)
    t.same(
      body.data.filter(({ type }) => type === 'task.updated'),
      [],
      path,
    )
  }
  t.equal((await ask('GET', `/v1/events/${rows[0]?.id}`)).status, 404)
  t.notMatch((await ask('GET', '/v1/event-types?limit=100')).body.data, [{ type: 'task.updated' }])
  const refused = async (method: string, path: string, body: object, code: string) => {
    const { body: answer } = await ask(method, path, body)
    t.match(JSON.stringify(answer), code, `${method} ${path}`)
  }
  await refused('PUT', '/v1/event-types/task.updated', {}, 'reserved_event_type')
  await refused('POST', '/v1/events', { type: 'task.updated', data: {} }, 'reserved_event_type')
  const own = { url, events: ['task.updated'] }
  await refused('POST', '/v1/webhooks', own, 'unknown_event_type')
  // Types of a family, and all that the service publishes, do not include it.
  const since = new Date(world.platform.clock.now() - DAY).toISOString()
  for (const events of [['task.*'], ['*', 'task.*']]) {
    const made = await ask('POST', '/v1/webhooks', { url: `${url}&mine`, events })
    const before = receiver.requests.length
    await ask('PUT', '/v1/event-types/task.other', {})
    const replay = `/v1/webhooks/${made.body.id}/replay`
    const answer = await ask('POST', replay, { since, types: ['task.*'] })
    t.match(answer.body, { queued: 0 })
    t.equal(receiver.requests.length, before)
  }
  const webhooks = await ask('GET', '/v1/webhooks?limit=100')
  const listed = webhooks.body.data as unknown as { id: string; events: string[] }[]
  const push = listed.find(({ events }) => events.length === 0)
  const path = `/v1/webhooks/${push?.id}`
  for (const body of [{ url: `${url}&mine` }, { events: ['app.deployed'] }]) {
    await refused('PATCH', path, body, 'insufficient_scope')
  }
  t.equal((await ask('PATCH', path, { description: 'Mine' })).status, 200)
})
