import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import { ROOT } from '../arch/source.ts'
import type { Ran } from '../support/backups.ts'
import { runKeyhook } from '../support/backups.ts'
import { askControl } from '../support/control.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'

const data = join(t.testdir(), 'data')
const nowhere = join(t.testdir({}), 'nowhere')
const port = String(await freePort())
const serve = () =>
  startDaemonProcess({
    KEYHOOK_DATA_DIR: data,
    KEYHOOK_PORT: port,
    KEYHOOK_OWNER_EMAIL: 'owner@example.com',
    KEYHOOK_OWNER_PASSWORD: 'a password of this test',
    KEYHOOK_EVENT_TYPES: 'order.paid,order.sent',
  })
let daemon = await serve()
t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
const ask = askControl(data)
const { key, id: keyId } = (await ask('POST', '/v1/keys', {
  name: 'remote',
  scopes: ['*:*'],
})) as { readonly key: string; readonly id: string }
const remote = { KEYHOOK_URL: daemon.url, KEYHOOK_KEY: key }

const run = (args: readonly string[], env: NodeJS.ProcessEnv = remote): Promise<Ran> =>
  runKeyhook(nowhere, args, { env })
const publish = async (n: number, type = 'order.paid'): Promise<void> => {
  await ask('POST', '/v1/events', { type, data: { n } })
}

/** A server that answers with this, and what it was sent. */
async function serverThat(status: number, headers: Readonly<Record<string, string>> = {}) {
  const requests: { headers: NodeJS.Dict<string | string[]>; body: Buffer }[] = []
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      requests.push({ headers: request.headers, body: Buffer.concat(chunks as Buffer[]) })
      response.writeHead(status, headers).end('<html>')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** `keyhook` while it runs, and its lines so far. */
function follow(args: readonly string[]) {
  const command = [join(ROOT, 'dist/daemon/main.js'), ...args]
  const env = { PATH: process.env['PATH'], KEYHOOK_DATA_DIR: nowhere, ...remote }
  const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  t.teardown(() => child.kill('SIGKILL'))
  return { lines: () => out.split('\n').slice(0, -1), err: () => err }
}

await t.test('the same commands reach a daemon elsewhere', async (t) => {
  const listed = await run(['key', 'list', '--json'])
  t.equal(listed.code, 0, listed.err)
  t.match(JSON.parse(listed.out), { data: [{ id: keyId, name: 'remote' }] })
  const made = await run(['app', 'create', '--template-id', 'blank', '--name', 'Shop', '--json'])
  t.equal(made.code, 0, made.err)
  const { id: app } = JSON.parse(made.out) as { readonly id: string }
  const file = join(t.testdir({}), 'letter.txt')
  await writeFile(file, 'A pelican flew by.\n'.repeat(10_000))
  const uploaded = await run(['file', 'upload', app, file, '--json'])
  t.match(uploaded, { code: 0, out: /letter\.txt/ }, uploaded.err)
  const refused = await run(['account', 'list'])
  t.match(refused, { code: 1, err: /^keyhook: / }, 'what a key may not do is refused there')
})

await t.test('an address that cannot be used is one line, and learns no key', async (t) => {
  const of = (url: string) => run(['key', 'list'], { ...remote, KEYHOOK_URL: url })
  const free = `http://127.0.0.1:${await freePort()}`
  const other = await serverThat(200)
  const redirects = await serverThat(307, { location: `${other.url}/v1/keys` })
  const page = await serverThat(502, { 'content-type': 'text/html' })
  const answers: readonly (readonly [string, RegExp])[] = [
    [free, /does not answer: ECONNREFUSED\n$/],
    [redirects.url, /redirects to .*: set KEYHOOK_URL to the address there\n$/],
    [page.url, /answered 502 with what is not of Keyhook/],
    ['http://keys.example.com', /must be an https address/],
  ]
  for (const [url, err] of answers) {
    const ran = await of(url)
    t.match(ran, { code: 1, out: '', err })
    t.notMatch(ran.err, key)
    t.equal(ran.err.split('\n').length, 2, 'one line')
  }
  t.equal(other.requests.length, 0, 'the key went nowhere else')
  const keyless = await run(['key', 'list'], { KEYHOOK_URL: daemon.url })
  t.match(keyless, { code: 1, err: /KEYHOOK_KEY must be set with it/ })
  const tail = await run(['event', 'tail'], {})
  t.match(tail, { code: 1, err: /has no running daemon/ })
})

await t.test('event tail prints what is published, also over a kill of the daemon', async (t) => {
  await publish(0)
  const tail = follow(['event', 'tail', '--json'])
  const seen = () =>
    tail.lines().map((line) => (JSON.parse(line) as { data: { n: number } }).data.n)
  // From now on: published until one is printed, which says that it follows.
  for (let n = 1; seen().length === 0 && n < 60; n++) {
    await publish(n)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  const [first = 0] = seen()
  t.ok(first > 0, 'nothing from before')
  await daemon.end('SIGKILL')
  await until('it says that the daemon is gone', () => /trying again/.test(tail.err()))
  daemon = await serve()
  for (let n = 1000; n < 1003; n++) await publish(n)
  await until('they are printed', () => seen().includes(1002), 40_000)
  const numbers = seen()
  t.same(numbers.slice(-3), [1000, 1001, 1002])
  t.same(
    numbers,
    [...new Set(numbers)].toSorted((a, b) => a - b),
    'each once, in order',
  )
})

await t.test('listen forwards events as deliveries that verify', async (t) => {
  const receiver = await serverThat(204)
  const listen = follow(['listen', '--forward-to', `${receiver.url}/hooks`, '--type', 'order.sent'])
  await until('it prints its secret', () => /secret is whsec_/.test(listen.err()))
  for (let n = 0; receiver.requests.length === 0 && n < 60; n++) {
    await publish(n, 'order.sent')
    await publish(n, 'order.paid')
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  const [, secret = ''] = /(whsec_\S+)/.exec(listen.err()) ?? []
  for (const { headers, body } of receiver.requests) {
    const event = await verifyWebhook(body, headers as Record<string, string>, secret)
    t.match(event, { type: 'order.sent' })
    t.match(headers, { 'x-service-event': 'order.sent', 'webhook-id': event.id })
  }
  await until('a line for it', () => listen.lines().length > 0)
  t.match(listen.lines()[0], /^order\.sent evt_\w+ 204 \d+ ms$/)
})

await t.test('listen replays one event, and its exit code is what became of it', async (t) => {
  const published = await ask('POST', '/v1/events', {
    type: 'order.paid',
    data: { total: 12.5 },
  })
  const id = String(published['id'])
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const accepts = await serverThat(200)
  const line = ['listen', '--replay', id, '--secret-stdin', '--json', '--forward-to']
  const replay = (url: string): Promise<Ran> =>
    runKeyhook(nowhere, [...line, url], { env: remote, input: `${secret}\n` })
  const ran = await replay(accepts.url)
  t.equal(ran.code, 0, ran.err)
  t.match(JSON.parse(ran.out), { id, type: 'order.paid', status: 200, error: null })
  const [request] = accepts.requests
  t.match(
    await verifyWebhook(
      request?.body ?? new Uint8Array(),
      request?.headers as Record<string, string>,
      secret,
    ),
    { id, data: { total: 12.5 } },
  )
  t.match(await replay((await serverThat(500)).url), { code: 1, out: /"status":500/ })
  const free = `http://127.0.0.1:${await freePort()}`
  t.match(await replay(free), { code: 1, out: /"error":"ECONNREFUSED"/ })
  const unknown = await run(['listen', '--replay', 'evt_unknown', '--forward-to', free])
  t.match(unknown, { code: 1, err: /event_not_found/ })
})
