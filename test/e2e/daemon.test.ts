import { readFileSync, readdirSync, writeFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { Pool } from 'undici'
import { ROOT } from '../arch/source.ts'
import { askControl } from '../support/control.ts'
import type { DaemonProcess, Env } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { startPostgres } from '../support/postgres.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import type { AnyBody } from '../support/world.ts'

const OPERATOR = 'operator-canary-0123456789-0123456789'
const PASSWORD = 'password canary 0123456789'
const SERVICE = 'service-canary-0123456789'
const OWNER: Env = {
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: PASSWORD,
  KEYHOOK_OPERATOR_TOKEN: OPERATOR,
  KEYHOOK_RATE_READS: '0',
  KEYHOOK_RATE_WRITES: '0',
}

async function start(
  scope: Pick<typeof t, 'teardown' | 'testdir'>,
): Promise<{ daemon: DaemonProcess; folder: string; ask: ReturnType<typeof askControl> }> {
  const folder = scope.testdir()
  const daemon = await startDaemonProcess({ KEYHOOK_DATA_DIR: folder, ...OWNER })
  scope.teardown(() => daemon.end('SIGTERM').then(() => undefined))
  return { daemon, folder, ask: askControl(folder) }
}

function metric(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])
}

await t.test('64 concurrent publishers share commits: at most 0.2 an event', async (t) => {
  const { daemon, ask } = await start(t)
  const { key } = await ask('POST', '/v1/keys', { name: 'publisher', scopes: ['events:write'] })
  await ask('PUT', '/v1/event-types/load.test')
  const pool = new Pool(daemon.url, { connections: 64 })
  t.teardown(() => pool.close())
  const publisher = async (): Promise<number[]> => {
    const statuses: number[] = []
    for (let index = 0; index < 40; index++) {
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/v1/events',
        headers: { authorization: `Bearer ${String(key)}`, 'content-type': 'application/json' },
        body: '{"type":"load.test","data":{"a":1}}',
      })
      await body.dump()
      statuses.push(statusCode)
    }
    return statuses
  }
  const statuses = (await Promise.all(Array.from({ length: 64 }, publisher))).flat()
  t.same(new Set(statuses), new Set([202]))
  const response = await fetch(`${daemon.url}/metrics`, {
    headers: { authorization: `Bearer ${OPERATOR}` },
  })
  const text = await response.text()
  const accepted = metric(text, 'keyhook_events_accepted_total')
  const commits = metric(text, 'keyhook_publish_commits_total')
  t.equal(accepted, statuses.length)
  t.ok(commits <= 0.2 * accepted, `${commits} commits for ${accepted} events`)
})

await t.test('probes, metrics, documents and hosts', async (t) => {
  const { daemon } = await start(t)
  t.equal((await fetch(`${daemon.url}/healthz`)).status, 200)
  t.equal((await fetch(`${daemon.url}/readyz`)).status, 200)
  t.equal((await fetch(`${daemon.url}/metrics`)).status, 403)
  const errors = await (await fetch(`${daemon.url}/docs/errors`)).text()
  t.match(errors, 'id="invalid_key"')
  const vectors = await fetch(`${daemon.url}/docs/vectors/signature.json`)
  t.match(vectors.headers.get('content-type'), 'application/json')
  t.equal(await vectors.text(), readFileSync(join(ROOT, 'test/vectors/signature.json'), 'utf8'))
  const misdirected = await new Promise<number | undefined>((resolve, reject) => {
    request(`${daemon.url}/v1/keys`, { headers: { host: 'evil.example.com' } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .once('error', reject)
      .end()
  })
  t.equal(misdirected, 421)
})

await t.test('/v1/openapi.json is public and its examples satisfy its schemas', async (t) => {
  const { daemon } = await start(t)
  const response = await fetch(`${daemon.url}/v1/openapi.json`)
  t.equal(response.status, 200)
  const document = (await response.json()) as AnyBody & {
    paths: Record<string, Record<string, { responses: Record<string, AnyBody> }>>
  }
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } })
  ajv.addSchema({ ...document, $id: 'api' })
  let checked = 0
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { responses }] of Object.entries(operations)) {
      const [status = '', success] =
        Object.entries(responses).find(([code]) => code.startsWith('2')) ?? []
      const content = success?.['content'] as Record<string, AnyBody> | undefined
      const json = content?.['application/json']
      if (json === undefined) continue
      const { example } = json
      const place = [path, method, 'responses', status, 'content', 'application/json', 'schema']
        .map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))
        .join('/')
      const validate = ajv.compile({ $ref: `api#/paths/${place}` })
      t.ok(validate(example), `${method} ${path}: ${ajv.errorsText(validate.errors)}`)
      checked++
    }
  }
  t.ok(checked >= 25)
})

await t.test('no secret stands in a row, the log, an error or a metric', async (t) => {
  const { daemon, folder, ask } = await start(t)
  const receiver = await startReceiver(answerWith('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n'))
  t.teardown(() => receiver.close())
  const { url } = daemon
  const json = { 'content-type': 'application/json' }
  const texts: string[] = []
  const send = async (method: string, path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(url + path, { method, ...init })
    if (response.status >= 400) texts.push(await response.clone().text())
    return response
  }

  const made = await ask('POST', '/v1/keys', { name: 'canary', scopes: ['*:*'] })
  const first = String(made['key'])
  const bearer = { authorization: `Bearer ${first}` }
  const rotated = await send('POST', `/v1/keys/${String(made['id'])}/rotate`, {
    headers: { ...bearer, 'idempotency-key': 'rotate-1' },
  })
  const second = ((await rotated.json()) as { key: string }).key
  const current = { authorization: `Bearer ${second}` }
  const created = await send('POST', '/v1/webhooks', {
    headers: { ...current, ...json, 'idempotency-key': 'webhook-1' },
    body: JSON.stringify({ url: `http://127.0.0.1:${receiver.port}/in`, events: ['app.created'] }),
  })
  const webhook = (await created.json()) as { id: string; secret: string }
  await send('POST', `/v1/webhooks/${webhook.id}/test`, { headers: current })
  const app = await send('POST', '/v1/apps', {
    headers: { ...current, ...json },
    body: JSON.stringify({ template_id: 'blank' }),
  })
  const { id: appId } = (await app.json()) as { id: string }
  const service = `/v1/apps/${appId}/settings/services/mail`
  const setService = (body: object): Promise<Response> =>
    send('PUT', service, { headers: { ...current, ...json }, body: JSON.stringify(body) })
  const shown: string[] = []
  for (const secret of [SERVICE, `${SERVICE} again`]) {
    const set = await setService({ kind: 'email', secrets: { PASSWORD: secret } })
    t.equal(set.status, 200)
    shown.push(await set.text())
  }
  shown.push(await (await send('GET', service, { headers: current })).text())
  const audit = await ask('GET', '/v1/audit-log')
  shown.push(JSON.stringify(await ask('GET', service)), JSON.stringify(audit))
  t.match(shown.at(-1), /service\.set/)
  // Where they do not belong: as a kind, in the configuration, beside what is wrong, and in a query.
  await setService({ kind: SERVICE })
  await setService({ kind: 'email', config: { URL: `smtp://mail:${SERVICE}@example.com` } })
  await setService({ kind: 'email', secrets: { PASSWORD: SERVICE, OTHER: 7 } })
  await send('GET', `${service}?secret=${encodeURIComponent(SERVICE)}`, { headers: current })
  const session = await send('POST', '/v1/session', {
    headers: json,
    body: JSON.stringify({ email: 'owner@example.com', password: PASSWORD }),
  })
  const [, cookie = ''] = /=([^;]+)/.exec(session.headers.get('set-cookie') ?? '') ?? []
  t.ok(cookie.length > 20)
  await send('POST', '/v1/users', {
    headers: { authorization: `Bearer ${OPERATOR}`, ...json, 'idempotency-key': 'user-1' },
    body: JSON.stringify({ email: 'second@example.com', password: PASSWORD }),
  })
  // Secrets where they do not belong: in a path, a query, a body, as another credential.
  await send('GET', `/v1/keys/${second}`, { headers: current })
  await send('GET', `/v1/keys?key=${second}`, { headers: current })
  await send('POST', '/v1/keys', {
    headers: { ...current, ...json },
    body: JSON.stringify({ key: second }),
  })
  await send('POST', '/v1/session', {
    headers: json,
    body: JSON.stringify({ email: 'x', password: PASSWORD }),
  })
  await send('GET', '/v1/keys', { headers: { authorization: `Bearer ${second}x` } })
  await send('GET', '/v1/keys', { headers: { authorization: `Bearer ${OPERATOR}x` } })

  const metrics = await (
    await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${OPERATOR}` } })
  ).text()
  const files = readdirSync(folder).filter((name) => /^(keyhook\.db|lock)/.test(name))
  t.ok(files.includes('keyhook.db-wal'))
  const haystacks: [string, string][] = [
    ...files.map((name): [string, string] => [name, readFileSync(join(folder, name), 'latin1')]),
    ['the log', daemon.output()],
    ['the metrics', metrics],
    ['errors', texts.join('\n')],
    ['answers', shown.join('\n')],
  ]
  t.ok(texts.length >= 6)
  const { secret } = webhook
  const canaries = { first, second, secret, cookie, PASSWORD, OPERATOR, SERVICE }
  for (const [name, canary] of Object.entries(canaries)) {
    t.ok(canary.length >= 20, name)
    for (const [place, text] of haystacks) t.notOk(text.includes(canary), `${name} in ${place}`)
  }
})

/** What the README takes for granted: a backend with a database, a table and a server. */
const BACKEND = `
import express from 'express'
import { DataTypes, Sequelize } from 'sequelize'
const sequelize = new Sequelize({ dialect: 'sqlite', storage: process.env.FILE, logging: false })
const Order = sequelize.define('order', { total: DataTypes.INTEGER })
await sequelize.sync()
const masterKey = 'k1:' + Buffer.alloc(32, 7).toString('base64')
const app = express()
const signedInUser = async () => undefined
`

await t.test("the README's embedding runs as it stands", async (t) => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, snippet = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
  const customer = `const { key: token } = await keyhook.as('acct_1').keys.create({ name: 'CI', scopes: ['orders:read'] })\n`
  const shown = `
const { data } = await keyhook.as('acct_1').events.list()
console.log(data.map(({ type, data }) => type + ' ' + data.order).join(), await Order.count())
await keyhook.stop()
await sequelize.close()
`
  const file = join(ROOT, `embedding-${process.pid}.mjs`)
  t.teardown(() => {
    rmSync(file, { force: true })
  })
  writeFileSync(file, BACKEND + snippet.replace('const { key }', `${customer}$&`) + shown)
  const env = { FILE: join(t.testdir(), 'orders.sqlite') }
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: ROOT, env })
  t.equal(stdout, 'order.paid 1 1\n')
})

await t.test('SIGTERM lets what is under way end, and exits 0', async (t) => {
  const { daemon, folder, ask } = await start(t)
  let arrived = 0
  const receiver = await startReceiver((socket) => {
    arrived++
    setTimeout(() => socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n'), 300)
  })
  t.teardown(() => receiver.close())
  const target = { url: `http://127.0.0.1:${receiver.port}/in`, events: ['slow.test'] }
  await ask('PUT', '/v1/event-types/slow.test')
  await ask('POST', '/v1/webhooks', target)
  await ask('POST', '/v1/events', { type: 'slow.test', data: {} })
  await until('the attempt is under way', () => arrived === 1)
  t.equal(await daemon.end('SIGTERM'), 0)
  const again = await startDaemonProcess({ KEYHOOK_DATA_DIR: folder, ...OWNER })
  t.teardown(() => again.end('SIGTERM').then(() => undefined))
  const [webhook] = (await ask('GET', '/v1/webhooks'))['data'] as { id: string }[]
  const page = await ask('GET', `/v1/webhooks/${webhook?.id ?? ''}/deliveries`)
  t.match(page, { data: [{ status: 'succeeded', attempt_count: 1 }] })
  t.equal(arrived, 1, 'nothing is sent twice')
})

await t.test('SIGTERM ends it with 0 while its database is away, too', async (t) => {
  const server = await startPostgres()
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= server.stop())
  t.teardown(stop)
  const daemon = await startDaemonProcess({
    ...OWNER,
    KEYHOOK_DATA_DIR: t.testdir(),
    KEYHOOK_DATABASE_URL: await server.createDatabase(),
    KEYHOOK_MASTER_KEY: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
  })
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  await stop()
  const isReady = async (): Promise<boolean> => (await fetch(`${daemon.url}/readyz`)).ok
  await until('it says that it is not ready', async () => !(await isReady()))
  const code = await daemon.end('SIGTERM')
  if (code !== 0) t.comment(daemon.output())
  t.equal(code, 0)
})
