import {
  AgentCard,
  GetTaskRequest,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'
import type { Test } from 'tap'
import t from 'tap'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { publicCard } from '../../daemon/agents/card.ts'
import { startDeployer } from '../support/deploys.ts'
import { startPostgres } from '../support/postgres.ts'
import type { Binding } from './client.ts'
import { BINDINGS } from './client.ts'
import type { Stage, WireTask } from './stage.ts'
import { SCOPES, createStage } from './stage.ts'

/** The SDK's client, which finds the interface in the card. */
async function connect({ world }: Stage, binding: Binding, key: string): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) =>
    fetch(input, {
      ...init,
      headers: { ...(init?.headers as Record<string, string>), authorization: `Bearer ${key}` },
    })
  const transports = [
    new JsonRpcTransportFactory({ fetchImpl }),
    new RestTransportFactory({ fetchImpl }),
  ]
  const factory = new ClientFactory({ transports, preferredTransports: [binding] })
  return factory.createFromAgentCard(AgentCard.fromJSON(publicCard(world.platform)))
}

interface Update {
  readonly task?: WireTask
  readonly statusUpdate?: { readonly status: WireTask['status'] }
  readonly artifactUpdate?: { readonly artifact: { readonly artifactId: string } }
}

/** What a stream said last, and the artifacts on the way. */
async function follow(stream: AsyncIterable<StreamResponse>) {
  const artifacts: string[] = []
  let state = ''
  let id = ''
  for await (const event of stream) {
    const { task, statusUpdate, artifactUpdate } = StreamResponse.toJSON(event) as Update
    id = task?.id ?? id
    state = (statusUpdate ?? task)?.status.state ?? state
    if (artifactUpdate !== undefined) artifacts.push(artifactUpdate.artifact.artifactId)
  }
  return { id, state, artifacts }
}

async function drive(t: Test, binding: Binding, database?: string): Promise<void> {
  const families = [webhooksFamily]
  const scopes = [...SCOPES, 'webhooks:*']
  const stage = await createStage(t, binding, { families, scopes, database })
  startDeployer(t, stage.world)
  const { key } = await stage.world.mintKey({ scopes })
  const client = await connect(stage, binding, key)
  const ask = (skill: string, input: object, text: string, more: object = {}): SendMessageRequest =>
    SendMessageRequest.fromJSON({
      message: stage.message([{ data: { skill, input } }, ...(text === '' ? [] : [{ text }])]),
      ...more,
    })
  const send = async (...asked: Parameters<typeof ask>): Promise<WireTask> =>
    Task.toJSON((await client.sendMessage(ask(...asked))) as Task) as WireTask

  const made = await send('apps_create', { template_id: 'blank', name: 'Tailor' }, '')
  t.equal(made.status.state, 'TASK_STATE_COMPLETED')
  const [artifact = {}] = made.artifacts ?? []
  const [{ data: app }] = artifact['parts'] as [{ data: { id: string } }]
  const on = { app_id: app.id }

  const editing = client.sendMessageStream(ask('edits_create', on, 'green'))
  const first = await editing.next()
  const { task } = StreamResponse.toJSON(first.value as StreamResponse) as Update
  await editing.return(undefined)
  const again = client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id: task?.id }))
  await stage.held.until('green')
  const following = follow(again)
  await stage.held.release('green')
  t.match(await following, { id: task?.id, state: 'TASK_STATE_COMPLETED', artifacts: /diff/ })

  for (const message of ['First', 'Second']) {
    const live = await follow(client.sendMessageStream(ask('deploy_publish', on, message)))
    t.match(live, { state: 'TASK_STATE_COMPLETED', artifacts: ['record', 'release'] })
    if (message === 'Second') break
    const edit = follow(client.sendMessageStream(ask('edits_create', on, 'blue')))
    await stage.held.release('blue')
    t.equal((await edit).state, 'TASK_STATE_COMPLETED')
  }
  const back = await send('deploy_rollback', on, 'Back to green')
  t.match(back.status, { state: 'TASK_STATE_COMPLETED' })
  t.match(back.artifacts?.[0], { parts: [{ data: { kind: 'rollback', status: 'live' } }] })

  const configuration = {
    taskPushNotificationConfig: { id: 'mine', url: 'http://127.0.0.1:9/hook', token: 'x' },
  }
  const pushed = await send('observe_health', on, '', { configuration })
  const named = { taskId: pushed.id, id: 'mine', tenant: '' }
  t.match(await client.getTaskPushNotificationConfig(named), { id: 'mine' })
  const { configs } = await client.listTaskPushNotificationConfig({
    taskId: pushed.id,
    tenant: '',
    pageSize: 0,
    pageToken: '',
  })
  t.equal(configs.length, 1)
  await client.deleteTaskPushNotificationConfig(named)
  await t.rejects(client.getTaskPushNotificationConfig(named))
  await t.rejects(client.getTask(GetTaskRequest.fromJSON({ id: 'nothing' })), {
    name: 'TaskNotFoundError',
  })
}

for (const binding of BINDINGS) {
  void t.test(`${binding}: the SDK drives an app from template to rollback over SQLite`, (t) =>
    drive(t, binding),
  )
}

void t.test('over PostgreSQL', async (t) => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  for (const binding of BINDINGS) {
    await t.test(`${binding}: the SDK drives an app from template to rollback`, async (t) => {
      await drive(t, binding, await postgres.createDatabase())
    })
  }
})
