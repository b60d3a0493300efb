import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import sqlite3 from 'sqlite3'
import type { Test } from 'tap'
import { examine } from '../../../daemon/cli/doctor.ts'
import { readConfig } from '../../../daemon/config/config.ts'
import { startDaemon } from '../../../daemon/daemon.ts'
import { createLog } from '../../../daemon/telemetry/log.ts'
import { openStore } from '../../../plugins/store/open.ts'
import { until } from '../../support/daemon.ts'
import type { AnyBody } from '../../support/world.ts'
import type { Checks } from '../run.ts'
import { freePort } from '../../support/free-port.ts'

const PASSWORD = 'hunter2-hunter2'
const KEY = (id: string, byte: number): string =>
  `${id}:${Buffer.alloc(32, byte).toString('base64')}`

type Env = Readonly<Record<string, string>>

/** What a start, or anything else, is refused with. */
async function refusalOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return ''
  } catch (cause) {
    return (cause as Error).message
  }
}

/** Starts and stops; an answer is a refusal. */
function startOnce(env: Env): Promise<string> {
  return refusalOf(async () => {
    const config = readConfig({ KEYHOOK_PORT: '0', ...env })
    await (await startDaemon(config, createLog('silent'))).stop()
  })
}

function runSql(file: string, sql: string): Promise<readonly AnyBody[]> {
  return new Promise((resolve, reject) => {
    const database = new sqlite3.Database(file)
    database.all<AnyBody>(sql, (failed, rows) => {
      database.close(() => (failed === null ? resolve(rows) : reject(failed)))
    })
  })
}

const NEWEST = 'edits/0002-knowledge'
const MIGRATIONS = 'SELECT name FROM keyhook_migrations ORDER BY name'

/** A daemon whose log is kept, and a call to it as the operator. */
async function loggedDaemon(t: Test, env: Env = {}) {
  const lines: AnyBody[] = []
  const text: string[] = []
  const write = (line: string): void => {
    text.push(line)
    lines.push(JSON.parse(line) as AnyBody)
  }
  const token = 'operator-token-of-the-tests-0123456789'
  const config = readConfig({
    KEYHOOK_DATA_DIR: t.testdir(),
    KEYHOOK_PORT: '0',
    KEYHOOK_OPERATOR_TOKEN: token,
    KEYHOOK_WEBHOOK_ALLOW: '127.0.0.1',
    ...env,
  })
  const daemon = await startDaemon(config, pino({ level: 'debug' }, { write }))
  t.teardown(() => daemon.stop())
  return {
    url: daemon.url,
    lines,
    text,
    async call(method: string, path: string, body?: object, account = ''): Promise<AnyBody> {
      const response = await fetch(daemon.url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...(account === '' ? {} : { 'keyhook-account': account }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return (await response.json()) as AnyBody
    },
  }
}

export const START_CHECKS: Checks = {
  async P10(t, saw) {
    const address = `mysql://user:${PASSWORD}@db.example.com/shop`
    const refusals = [
      await refusalOf(() => readConfig({ KEYHOOK_DATABASE_URL: address })),
      await refusalOf(() => openStore(address)),
    ]
    for (const message of refusals) {
      t.match(message, /postgres:/)
      t.notMatch(message, PASSWORD)
    }
    const wrong: Env = { KEYHOOK_MASTER_KEY: `k1:${PASSWORD}`, KEYHOOK_OPERATOR_TOKEN: PASSWORD }
    for (const [name, value] of Object.entries(wrong)) {
      const message = await refusalOf(() => readConfig({ [name]: value }))
      t.match(message, name)
      t.notMatch(message, PASSWORD)
    }
    saw('refused')
  },

  async P11(t, saw) {
    const port = await freePort()
    const message = await startOnce({
      KEYHOOK_DATA_DIR: t.testdir(),
      KEYHOOK_MASTER_KEY: KEY('k1', 1),
      KEYHOOK_DATABASE_URL: `postgres://user:${PASSWORD}@127.0.0.1:${port}/shop`,
    })
    const place = `PostgreSQL at 127.0.0.1:${port} cannot be reached: `
    t.ok(message.startsWith(place), message)
    t.match(message.slice(place.length), /ECONNREFUSED/)
    t.notMatch(message, PASSWORD)
    saw('host, port and cause')
  },

  async P12(t, saw) {
    const folder = t.testdir()
    const file = join(folder, 'keyhook.db')
    const env = { KEYHOOK_DATA_DIR: folder, KEYHOOK_MASTER_KEY: KEY('k1', 1) }
    t.equal(await startOnce(env), '')
    // As the version before left it: a step that is taken again would fail, or be recorded.
    await runSql(file, 'ALTER TABLE keyhook_edits DROP COLUMN knowledge')
    await runSql(file, `DELETE FROM keyhook_migrations WHERE name = '${NEWEST}'`)
    const before = await runSql(file, MIGRATIONS)
    const refused: readonly (readonly [Env, RegExp])[] = [
      [
        { ...env, KEYHOOK_BRAND: 'other' },
        /KEYHOOK_BRAND is other.*made as service.* Set KEYHOOK_BRAND to service/,
      ],
      [{ ...env, KEYHOOK_MASTER_KEY: KEY('k1', 2) }, /KEYHOOK_MASTER_KEY is not the key/],
      [{ ...env, KEYHOOK_MASTER_KEY: KEY('k2', 2) }, /KEYHOOK_MASTER_KEY lacks the key k1/],
    ]
    for (const [given, message] of refused) {
      t.match(await startOnce(given), message)
      t.same(await runSql(file, MIGRATIONS), before)
    }
    t.equal(await startOnce(env), '')
    t.same((await runSql(file, MIGRATIONS)).length, before.length + 1)
    saw('refused')
  },

  async P17(t, saw) {
    const folder = t.testdir()
    const file = join(folder, 'keyhook.db')
    const fresh = join(folder, 'fresh')
    const env = { KEYHOOK_DATA_DIR: folder, KEYHOOK_MASTER_KEY: KEY('k1', 1) }
    t.equal(await startOnce(env), '')
    await runSql(file, 'ALTER TABLE keyhook_edits DROP COLUMN knowledge')
    await runSql(file, `DELETE FROM keyhook_migrations WHERE name = '${NEWEST}'`)
    const before = await runSql(file, MIGRATIONS)
    const owner = { KEYHOOK_OWNER_EMAIL: 'me@example.com', KEYHOOK_OWNER_PASSWORD: 'too short' }
    const wrong: readonly (readonly [Env, RegExp])[] = [
      [{ KEYHOOK_EVENT_TYPES: 'app.deployed' }, /KEYHOOK_EVENT_TYPES names app\.deployed/],
      [{ KEYHOOK_FILES_PLUGIN: './absent.mjs' }, /KEYHOOK_FILES_PLUGIN is \.\/absent\.mjs/],
      [{ KEYHOOK_EMBEDDINGS_MODEL: 'm' }, /KEYHOOK_EMBEDDINGS_BASE_URL or KEYHOOK_LLM_BASE_URL/],
      [owner, /KEYHOOK_OWNER_PASSWORD must be 12 to 128 characters/],
      [{ ...owner, KEYHOOK_OWNER_EMAIL: 'me' }, /KEYHOOK_OWNER_EMAIL must be an email address/],
    ]
    for (const [given, message] of wrong) {
      t.match(await startOnce({ ...env, ...given }), message)
      t.same(await runSql(file, MIGRATIONS), before)
      t.match(await startOnce({ ...env, ...given, KEYHOOK_DATA_DIR: fresh }), message)
      t.notOk(existsSync(join(fresh, 'keyhook.db')))
    }
    saw('refused')
  },

  async P13(t, saw) {
    const email = { KEYHOOK_OWNER_EMAIL: 'me@example.com' }
    const password = { KEYHOOK_OWNER_PASSWORD: 'correct horse battery' }
    t.match(await refusalOf(() => readConfig(email)), /KEYHOOK_OWNER_PASSWORD must be set/)
    const message = await refusalOf(() => readConfig(password))
    t.match(message, /KEYHOOK_OWNER_EMAIL must be set/)
    t.notMatch(message, 'correct horse')
    t.equal(await refusalOf(() => readConfig({ ...email, ...password })), '')
    saw('refused')
  },

  async P14(t, saw) {
    const folder = join(t.testdir(), 'not-yet')
    const checks = await examine({ KEYHOOK_DATA_DIR: folder, KEYHOOK_PORT: '0' })
    t.ok(
      checks.every(({ ok }) => ok),
      JSON.stringify(checks),
    )
    t.match(checks.find(({ name }) => name === 'data folder')?.detail, /keyhook serve/)
    t.notOk(existsSync(folder))
    const port = await freePort()
    const unreachable = await examine({
      KEYHOOK_DATA_DIR: folder,
      KEYHOOK_PORT: '0',
      KEYHOOK_DATABASE_URL: `postgres://user:${PASSWORD}@127.0.0.1:${port}/shop`,
    })
    const failed = unreachable.filter(({ ok }) => !ok)
    t.same(
      failed.map(({ name }) => name),
      ['database', 'master key'],
    )
    t.match(failed[0]?.detail, `127.0.0.1:${port}`)
    t.notMatch(JSON.stringify(unreachable), PASSWORD)
    saw('ok')
  },

  async P15(t, saw) {
    const { url } = await loggedDaemon(t)
    const person = await fetch(url, { headers: { accept: 'text/html,*/*;q=0.8' } })
    const page = await person.text()
    t.match(person.headers.get('content-type'), /^text\/html/)
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    const policy = `default-src 'none'; style-src 'sha256-${hash}';`
    t.ok(person.headers.get('content-security-policy')?.startsWith(policy), 'its style applies')
    t.match(page, /href="docs".*href="v1\/openapi.json"/s)
    t.notMatch(page, '<script')
    t.match(page, 'setup link', 'there is no user yet')
    await t.test('once there is a user, it does not mention the setup link', async (t) => {
      const { url: settled } = await loggedDaemon(t, {
        KEYHOOK_OWNER_EMAIL: 'me@example.com',
        KEYHOOK_OWNER_PASSWORD: 'correct horse battery',
      })
      const later = await fetch(settled, { headers: { accept: 'text/html' } })
      t.notMatch(await later.text(), 'setup link')
    })
    saw(`${person.status} html`)
    for (const accept of ['*/*', 'application/json']) {
      const program = await fetch(url, { headers: { accept } })
      t.match(await program.json(), { service: 'service', openapi: '/v1/openapi.json' })
      saw(`${program.status} json`)
    }
  },

  async P16(t, saw) {
    const receiver = createServer((_, response) =>
      response.writeHead(500).end('the answer says 42'),
    )
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    t.teardown(() => receiver.close())
    const { port } = receiver.address() as AddressInfo
    const { call, lines, text } = await loggedDaemon(t, { KEYHOOK_EVENT_TYPES: 'order.paid' })
    const account = String((await call('POST', '/v1/accounts', { name: 'A' }))['id'])
    const target = `http://127.0.0.1:${port}/in?token=of-the-receiver`
    const webhook = { url: target, events: ['order.paid'] }
    const { id } = await call('POST', '/v1/webhooks', webhook, account)
    const event = { type: 'order.paid', data: { card: '4111111111111111' } }
    await call('POST', '/v1/events', event, account)
    await call('GET', '/v1/webhooks?limit=1&cursor=of-the-caller', undefined, account)
    const find = (msg: string) => lines.filter((line) => line['msg'] === msg)
    await until('it is logged', () => find('delivery.failed').length > 0)
    const [failed] = find('delivery.failed')
    t.match(failed, {
      webhook_id: id,
      account_id: account,
      delivery_id: String,
      attempt: 1,
      error: String,
      status_code: 500,
    })
    // Nothing else: of this receiver, which is on an allowed private address, no response is kept to leak.
    const fields = [
      'account_id',
      'attempt',
      'delivery_id',
      'delivery_status',
      'duration_ms',
      'error',
    ]
    const common = ['hostname', 'level', 'msg', 'pid', 'time']
    t.same(
      Object.keys(failed ?? {}).sort(),
      [...fields, ...common, 'status_code', 'webhook_id'].sort(),
    )
    saw(String(failed?.['msg']))
    await until('requests are logged', () => find('request').length >= 4)
    t.match(
      find('request').find(({ operation }) => operation === 'webhooks.list'),
      { method: 'GET', status: 400, account_id: account, duration_ms: Number, request_id: String },
    )
    saw('request')
    for (const secret of ['4111', 'of-the-receiver', 'of-the-caller', 'says 42', 'Bearer']) {
      t.notMatch(text.join(''), secret)
    }
  },
}
