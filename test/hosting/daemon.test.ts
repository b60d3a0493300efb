import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import type { Daemon } from '../../daemon/daemon.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { readConfig } from '../../daemon/config/config.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { until } from '../support/daemon.ts'
import { openRaw } from '../support/raw-http.ts'
import { ask } from './rows/row.ts'

const OPERATOR = 'operator-token-of-the-tests-0123456789'

type Body = Readonly<Record<string, unknown>>

async function start(test: Test, settings: Readonly<Record<string, string>> = {}): Promise<Daemon> {
  const config = readConfig({
    KEYHOOK_DATA_DIR: test.testdir(),
    KEYHOOK_PORT: '0',
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
    ...settings,
  })
  const daemon = await startDaemon(config, createLog('silent'))
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => (stopping ??= daemon.stop())
  test.teardown(stop)
  return { ...daemon, stop }
}

async function call(
  { url }: Daemon,
  method: string,
  path: string,
  body?: object,
  account = '',
): Promise<Body> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${OPERATOR}`,
      'content-type': 'application/json',
      ...(account === '' ? {} : { 'keyhook-account': account }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Body
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
  return answer
}

async function get(port: string, host: string, path: string) {
  const connection = await openRaw(Number(port))
  connection.send(ask('GET', path, { Host: host, Connection: 'close' }))
  const answer = await connection.answer()
  await connection.closed()
  return { status: answer?.status, text: answer?.body.toString() ?? '' }
}

await t.test('what is published is served where its address says, and nowhere else', async (t) => {
  const daemon = await start(t)
  const account = String((await call(daemon, 'POST', '/v1/accounts', { name: 'A' }))['id'])
  const given = { template_id: 'blank', alias: 'shop' }
  const app = await call(daemon, 'POST', '/v1/apps', given, account)
  const { production_url, preview_url, id } = app
  const { hostname, port } = new URL(String(production_url))
  t.equal(hostname, 'shop.localhost')
  t.match((await get(port, hostname, '/')).text, /not published/i)
  const preview = await get(port, new URL(String(preview_url)).host, '/')
  t.match(preview, { status: 200, text: /<!doctype html>/i })

  const path = `/v1/apps/${String(id)}`
  const { deployment_id } = await call(daemon, 'POST', `${path}/deploy/publish`, {}, account)
  const waiting = `${path}/deployments/${String(deployment_id)}?wait=20`
  t.match(await call(daemon, 'GET', waiting, undefined, account), { status: 'live' })
  t.match(await get(port, hostname, '/'), { status: 200, text: preview.text })
  t.match(await get(port, `${String(id)}.localhost`, '/'), { status: 200, text: preview.text })

  const script = await get(port, hostname, '/_p/obs.js')
  t.match(script.text, `var release = "${String(deployment_id)}"`)
  await until('the app was found to be healthy', async () => {
    const health = await call(daemon, 'GET', `${path}/health`, undefined, account)
    return health['status'] === 'healthy'
  })
  let lines: unknown
  await until('what was asked for is told of', async () => {
    lines = (await call(daemon, 'GET', `${path}/logs`, undefined, account))['data']
    return Array.isArray(lines) && lines.length > 0
  })
  t.match(lines, { length: 3 }, 'probes of ours are no visitors')

  const api = new URL(daemon.url)
  t.match(await get(api.port, hostname, '/'), { status: 421 })
  for (const place of ['/v1/apps', '/healthz', '/studio', '/docs', '/metrics']) {
    t.equal((await get(port, hostname, place)).status, 404, place)
    t.equal((await get(port, api.host, place)).status, 404, place)
  }
  await call(daemon, 'POST', `${path}/deploy/unpublish`, {}, account)
  t.match(await get(port, hostname, '/'), { status: 404, text: /not published/i })
  await call(daemon, 'DELETE', path, undefined, account)
  await daemon.stop()
  await t.rejects(openRaw(Number(port)), { code: 'ECONNREFUSED' })
})

await t.test('no webhook leads to where apps are served', async (t) => {
  const daemon = await start(t, { KEYHOOK_WEBHOOK_ALLOW: '0.0.0.0/0,::/0' })
  const { port } = new URL(daemon.platform.appsHosting?.urlOf('shop') ?? '')
  const judged = await daemon.platform.plugins.egress.judge(`http://127.0.0.1:${port}/`)
  t.match(judged, { ok: false, reason: 'own_listener' })
})

await t.test('switched off, nothing is served and apps have no address', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  const off = { KEYHOOK_APPS: 'off', KEYHOOK_APPS_PORT: String(port) }
  const daemon = await start(t, off)
  t.equal(daemon.platform.appsHosting, undefined)
  await daemon.stop()
})

await t.test('a port that is taken changes nothing', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  const folder = join(t.testdir(), 'data')
  const settings = { KEYHOOK_DATA_DIR: folder, KEYHOOK_APPS_PORT: String(port) }
  await t.rejects(start(t, settings), { message: /^KEYHOOK_APPS_PORT .* is in use/ })
  t.notOk(existsSync(join(folder, 'keyhook.db')))
})

await t.test('whoever shares a site with apps is warned', async (t) => {
  const told: string[] = []
  const log = createLog('silent')
  Object.assign(log, { warn: (text: unknown) => void told.push(String(text)) })
  const config = readConfig({
    KEYHOOK_DATA_DIR: t.testdir(),
    KEYHOOK_PORT: '0',
    KEYHOOK_BASE_URL: 'https://keyhook.example.com',
    KEYHOOK_APPS_URL: 'https://apps.example.com',
  })
  const daemon = await startDaemon(config, log)
  await daemon.stop()
  t.match(told, [/KEYHOOK_APPS_DOMAIN apps\.example\.com seems to be of the same site/])
})

await t.test('no page of an app has an answer of the service as a part of it', async (t) => {
  const { url } = await start(t)
  for (const path of ['/v1/apps', '/v1/openapi.json', '/docs', '/studio/setup', '/nothing']) {
    const { headers } = await fetch(url + path)
    t.match(headers.get('content-security-policy'), /frame-ancestors 'none'/, path)
    t.equal(headers.get('cross-origin-opener-policy'), 'same-origin', path)
    t.equal(headers.get('x-content-type-options'), 'nosniff', path)
  }
})
