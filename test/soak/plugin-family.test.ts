import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { ROUTES, createClient, routesOf } from '../../daemon/client/index.ts'
import { MINUTE } from '../../lib/time.ts'
import type { Env } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { connectMcp } from '../support/mcp.ts'
import { familyAt, writeNotes } from '../support/notes-family.ts'
import { packKeyhook } from '../support/packed.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'

t.setTimeout(5 * MINUTE)

const TOKEN = 'operator-token-of-a-family-test-01'
const packed = await packKeyhook()
t.teardown(() => packed.remove())
const folder = await packed.install([])
const root = join(folder, 'node_modules', 'keyhook')
const run = promisify(execFile)

interface Ran {
  readonly stdout: string
  readonly stderr: string
  readonly code?: number
}

/** One command line of the package. */
async function keyhook(env: Env, ...args: readonly string[]): Promise<Ran> {
  const main = join(root, 'dist/daemon/main.js')
  const given = { PATH: process.env['PATH'], KEYHOOK_PORT: '0', KEYHOOK_APPS_PORT: '0', ...env }
  return run(process.execPath, [main, ...args], { env: given }).catch(
    (cause: unknown) => cause as Ran,
  )
}

await t.test('the notes of the page are everywhere, and leave their table', async (t) => {
  // No package is found from here: not the one that the daemon is of, and not this repository.
  const data = await mkdtemp(join(tmpdir(), 'keyhook-data-'))
  t.teardown(() => rm(data, { recursive: true }))
  const path = await writeNotes(join(data, 'plugins'), 'families-notes.mjs')
  const env = { KEYHOOK_DATA_DIR: data, KEYHOOK_OPERATOR_TOKEN: TOKEN }
  let daemon = await startDaemonProcess(env, root)
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  const operator = createClient({ baseUrl: daemon.url, key: TOKEN })
  const { id: account } = await operator.accounts.create({ name: 'Shop' })
  const office = createClient({ baseUrl: daemon.url, key: TOKEN, account })
  const { key } = await office.keys.create({
    name: 'notes',
    scopes: ['notes:read', 'notes:write', 'webhooks:write', 'discovery:read'],
  })
  const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
  t.teardown(() => receiver.close())
  await office.webhooks.create({
    url: `http://127.0.0.1:${receiver.port}/`,
    events: ['note.created'],
  })

  const get = async (page: string): Promise<Response> =>
    fetch(daemon.url + page, { headers: { authorization: `Bearer ${key}` } })
  const countNotes = async (): Promise<number> =>
    ((await (await get('/v1/notes')).json()) as { readonly data: readonly object[] }).data.length

  // REST, as a person with curl calls it.
  const created = await fetch(`${daemon.url}/v1/notes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'Buy some milk' }),
  })
  t.equal(created.status, 201)
  const note = (await created.json()) as { readonly id: string }
  await until('its event was delivered', () => receiver.requests.length === 1)
  await until('its words are counted', async () =>
    (await (await get('/v1/notes')).text()).includes('"words":3'),
  )

  // Its data is behind its own scope, in the log of events too.
  const events = await office.keys.create({ name: 'events', scopes: ['events:read'] })
  const both = await office.keys.create({ name: 'both', scopes: ['events:read', 'notes:read'] })
  const logOf = async (key: string): Promise<string> => {
    const log = await fetch(`${daemon.url}/v1/events`, {
      headers: { authorization: `Bearer ${key}` },
    })
    return log.text()
  }
  t.notMatch(await logOf(events.key ?? ''), /milk/)
  t.match(await logOf(both.key ?? ''), /milk/)
  const [, id = ''] =
    /"id":"(evt_\w+)","type":"note\.created"/.exec(await logOf(both.key ?? '')) ?? []
  for (const [one, status] of [
    [events.key, 404],
    [both.key, 200],
  ] as const) {
    const headers = { authorization: `Bearer ${one}` }
    t.equal((await fetch(`${daemon.url}/v1/events/${id}`, { headers })).status, status)
  }

  // The command line.
  const command = ['note', 'create', 'From a terminal', '--account', account]
  t.match((await keyhook(env, ...command)).stdout, /text +From a terminal/)
  const { stdout } = await keyhook(env, 'note', 'list', '--json', '--account', account)
  t.equal((JSON.parse(stdout) as { readonly data: readonly object[] }).data.length, 2)
  t.match((await keyhook(env, '--help')).stdout, /note create +Create a note/)
  t.match((await keyhook(env, 'note', 'create', '--help')).stdout, /Text of the note/)

  // The client, from the same value.
  const { operations } = await familyAt(await writeNotes(folder))
  const client = createClient({
    baseUrl: daemon.url,
    key,
    routes: [...ROUTES, ...routesOf(operations)],
  }) as unknown as { readonly notes: { get(given: object): Promise<unknown> } }
  t.match(await client.notes.get({ note_id: note.id }), { text: 'Buy some milk', words: 3 })

  // Agents.
  const agent = await connectMcp({ baseUrl: daemon.url }, key, '?toolsets=notes')
  const { tools } = await agent.listTools()
  const names = tools.map(({ name }) => name)
  for (const name of ['notes_create', 'notes_get', 'notes_list']) t.ok(names.includes(name), name)
  const called = await agent.callTool('notes_create', { text: 'From an agent' })
  t.match(JSON.stringify(called), /From an agent/)
  await agent.close()

  // Documents.
  const text = async (page: string): Promise<string> => (await fetch(daemon.url + page)).text()
  t.match(await text('/v1/openapi.json'), /"\/v1\/notes\/\{note_id\}"/)
  t.match(await text('/v1/openapi.json'), /"title":"NoteCreatedData"/)
  t.match(await text('/docs'), /Create a note/)
  t.match(await text('/.well-known/agent-card.json'), /"notes_create".*"Take a note"/)
  t.match(await text('/docs/errors'), /note_not_found/)
  t.match(await (await get('/v1/discovery')).text(), /"notes:write".*"note\.created"/)

  t.match((await keyhook(env, 'doctor')).stdout, /plugin of families +.*which is the family notes/)
  t.notMatch((await keyhook(env, 'doctor')).stdout, /left by the family/)
  await daemon.end('SIGKILL')
  daemon = await startDaemonProcess(env, root)
  t.equal(await countNotes(), 3, 'its notes outlive a kill')
  t.equal(await daemon.end('SIGTERM'), 0)

  await t.test('while no daemon runs, its commands say what they need', async (t) => {
    const refused = await keyhook(env, 'note', 'list', '--account', account)
    t.equal(refused.code, 1)
    t.match(refused.stderr, /note is no command of its own\. .*need the running daemon/)
  })

  await t.test('without it the daemon goes on, and doctor names its table', async (t) => {
    await rm(path)
    const left = /keyhook_x_notes_notes: left by the family notes/
    t.match((await keyhook(env, 'doctor')).stdout, left)
    daemon = await startDaemonProcess(env, root)
    t.equal((await get('/v1/notes')).status, 404)
    const keys = createClient({ baseUrl: daemon.url, key: TOKEN, account }).keys
    t.match((await keys.list()).data.at(-1)?.scopes, ['discovery:read', 'notes:read'])
    t.match((await keyhook(env, 'doctor')).stdout, left, 'beside a running daemon too')
    t.equal(await daemon.end('SIGTERM'), 0)
  })
})
