/**
 * One key over three protocols, by the clients that people use: an app is made from a template, edited, given a file,
 * published, published again, watched and rolled back.
 *
 * @module
 */
import type { Artifact, Part } from '@a2a-js/sdk'
import { Role, TaskState } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import {
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  createAuthenticatingFetchWithRetry,
} from '@a2a-js/sdk/client'
import type { Test } from 'tap'
import t from 'tap'
import { askControl } from '../support/control.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import type { McpClient } from '../support/mcp.ts'
import { MCP_CLIENTS } from '../support/mcp.ts'
import { startPostgres } from '../support/postgres.ts'
import type { AnyBody } from '../support/world.ts'

/** Calls an operation by the name of its tool; rejects with its refusal. */
type Call = (tool: string, args: AnyBody) => Promise<AnyBody>

interface Served {
  readonly baseUrl: string
  readonly key: string
}

async function drive(t: Test, call: Call): Promise<void> {
  const write = (path: string, content: string) => [{ op: 'write', path, content }]
  const made = await call('apps_create', { template_id: 'landing', name: 'Shop' })
  const app_id = String(made['app_id'])
  const first = await call('edits_create', {
    app_id,
    operations: write('hours.html', '<h1>9 to 6</h1>'),
    base_revision: 1,
  })
  t.match(first, { status: 'completed', result_revision: 2 })
  const file = { name: 'returns.md', content: '# Returns\n\nWithin forty days.\n' }
  const uploaded = await call('files_upload', { app_id, file: [file] })
  const [{ id: file_id } = { id: '' }] = uploaded['data'] as readonly { readonly id: string }[]
  await until('the file is processed', async () => {
    const { status } = await call('files_get', { app_id, file_id })
    return status === 'processed'
  })
  const found = await call('files_search', { app_id, query: 'forty days' })
  t.match(found, { data: [{ file_id }] })

  const one = await call('deploy_publish', { app_id, message: 'First' })
  t.match(one, { status: 'live', release: 1 })
  await call('edits_create', {
    app_id,
    operations: write('hours.html', '<h1>Closed</h1>'),
    base_revision: 2,
  })
  const two = await call('deploy_publish', { app_id, message: 'Second' })
  t.match(two, { status: 'live', release: 2, previous_deployment_id: one['id'] })
  const logs = await call('deploy_logs', { app_id, deployment_id: two['id'] })
  t.ok((logs['data'] as readonly unknown[]).length > 0, 'it says what it did')
  t.match(await call('observe_logs', { app_id }), { data: [] })
  t.match(await call('observe_health', { app_id }), { app_id })

  const back = await call('deploy_rollback', { app_id, message: 'Back' })
  t.match(back, { status: 'live', restored_from: one['id'] })
  t.match(await call('deploy_status', { app_id }), { live: { id: back['id'] } })
}

async function driveMcp(client: McpClient, tool: string, args: AnyBody): Promise<AnyBody> {
  const { isError, texts, structured } = await client.callTool(tool, args)
  if (isError || structured === undefined) throw new Error(`${tool}: ${texts.join('\n')}`)
  return structured
}

/** What A2A has no skill for is asked over REST, with the same key. */
const ROUTES: Readonly<Record<string, readonly [method: string, path: string]>> = {
  files_upload: ['POST', 'files'],
  files_get: ['GET', 'files/{file_id}'],
  deploy_logs: ['GET', 'deployments/{deployment_id}/logs'],
  deploy_status: ['GET', 'deploy/status'],
  observe_logs: ['GET', 'logs'],
}

async function askRest({ baseUrl, key }: Served, tool: string, args: AnyBody): Promise<AnyBody> {
  const [method, path] = ROUTES[tool] ?? ['', '']
  const { app_id, file, ...body } = args as {
    app_id: string
    file?: readonly GivenFile[]
  } & AnyBody
  const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(body[name]))
  const form = new FormData()
  for (const { name, content } of file ?? []) form.append('file', new File([content], name))
  const isJson = method === 'POST' && file === undefined
  const response = await fetch(`${baseUrl}/v1/apps/${app_id}/${at}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(isJson && { 'content-type': 'application/json' }),
    },
    ...(isJson && { body: JSON.stringify(body) }),
    ...(file !== undefined && { body: form }),
  })
  const answer = (await response.json()) as AnyBody
  if (!response.ok) throw new Error(`${tool}: ${JSON.stringify(answer)}`)
  return answer
}

interface GivenFile {
  readonly name: string
  readonly content: string
}

let sent = 0

/** Sends the arguments as data, and waits for the task. */
async function driveA2a(client: Client, tool: string, args: AnyBody): Promise<AnyBody> {
  const part: Part = {
    content: { $case: 'data', value: args },
    metadata: undefined,
    filename: '',
    mediaType: 'application/json',
  }
  const result = await client.sendMessage({
    tenant: '',
    message: {
      messageId: `message-${sent++}`,
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [part],
      metadata: { skill: tool },
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: undefined,
    metadata: undefined,
  })
  if (!('status' in result)) throw new Error(`${tool}: no task`)
  const { status, artifacts } = result
  if (status?.state !== TaskState.TASK_STATE_COMPLETED) {
    throw new Error(`${tool}: ${JSON.stringify(status)}`)
  }
  return dataOf(artifacts)
}

function dataOf([artifact]: readonly Artifact[]): AnyBody {
  const content = artifact?.parts[0]?.content
  if (content?.$case !== 'data') throw new Error('no data')
  return content.value as AnyBody
}

async function connectA2a({ baseUrl, key }: Served, binding: string): Promise<Client> {
  const headers = async () => ({ Authorization: `Bearer ${key}` })
  const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
    headers,
    shouldRetryWithHeaders: async () => undefined,
  })
  const factory = new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ fetchImpl }),
      new RestTransportFactory({ fetchImpl }),
    ],
    preferredTransports: [binding],
  })
  return factory.createFromUrl(baseUrl)
}

/** Clients by name, each as a way to call. */
const DRIVERS: Readonly<Record<string, (served: Served, t: Test) => Promise<Call>>> = {
  ...Object.fromEntries(
    Object.entries(MCP_CLIENTS).map(([name, connect]) => [
      name,
      async (served: Served, t: Test): Promise<Call> => {
        const client = await connect(served, served.key, '?toolsets=all')
        t.teardown(() => client.close())
        return (tool, args) => driveMcp(client, tool, args)
      },
    ]),
  ),
  ...Object.fromEntries(
    ['JSONRPC', 'HTTP+JSON'].map((binding) => [
      `A2A, ${binding}`,
      async (served: Served): Promise<Call> => {
        const client = await connectA2a(served, binding)
        return (tool, args) =>
          tool in ROUTES ? askRest(served, tool, args) : driveA2a(client, tool, args)
      },
    ]),
  ),
}

const SCOPES = ['apps:*', 'edits:*', 'files:*', 'deploy:*', 'observe:*', 'discovery:read']

const server = await startPostgres()
t.teardown(() => server.stop())
const databases = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({
    KEYHOOK_DATABASE_URL: await server.createDatabase(),
    KEYHOOK_MASTER_KEY: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  }),
}

for (const [database, placeOf] of Object.entries(databases)) {
  await t.test(`over ${database}`, async (t) => {
    const folder = t.testdir()
    const daemon = await startDaemonProcess({
      KEYHOOK_DATA_DIR: folder,
      KEYHOOK_OWNER_EMAIL: 'owner@example.com',
      KEYHOOK_OWNER_PASSWORD: 'a long password',
      KEYHOOK_APPS_DOMAIN: 'apps.example.net',
      ...(await placeOf()),
    })
    t.teardown(() => daemon.end('SIGTERM'))
    const ask = askControl(folder)
    for (const [name, connect] of Object.entries(DRIVERS)) {
      await t.test(name, async (t) => {
        const { key } = await ask('POST', '/v1/keys', { name: 'agent', scopes: SCOPES })
        await drive(t, await connect({ baseUrl: daemon.url, key: String(key) }, t))
      })
    }
  })
}
