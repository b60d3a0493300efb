import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import sqlite3 from 'sqlite3'
import t from 'tap'
import type { Check } from '../../daemon/cli/check.ts'
import { askDaemon } from '../../daemon/cli/ask.ts'
import { examine } from '../../daemon/cli/doctor.ts'
import { readConfig, usesPostgres } from '../../daemon/config/config.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { listenOn } from '../../daemon/listener/listen.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { startPostgres } from '../support/postgres.ts'

const KEY = `k1:${Buffer.alloc(32, 1).toString('base64')}`

function runSql(file: string, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const database = new sqlite3.Database(file)
    database.run(sql, (failed) => {
      database.close(() => (failed === null ? resolve() : reject(failed)))
    })
  })
}

const failedOf = (checks: readonly Check[]): readonly string[] =>
  checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`)

await t.test('doctor finds nothing wrong with a folder that is empty', async (t) => {
  const folder = t.testdir()
  const checks = await examine({ KEYHOOK_DATA_DIR: folder, KEYHOOK_PORT: '0' })
  t.strictSame(failedOf(checks), [])
  t.match(checks.find(({ name }) => name === 'database')?.detail, /keyhook\.db will be created$/)
  t.notOk(readdirSync(folder).includes('keyhook.db'))
})

await t.test('doctor names a port that is taken', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const env = { KEYHOOK_DATA_DIR: join(t.testdir(), 'absent') }
  const taken = `127.0.0.1:${port} is in use by another process. End that process, or set another`
  const api = await examine({ ...env, KEYHOOK_PORT: String(port), KEYHOOK_APPS_PORT: '0' })
  t.strictSame(failedOf(api), [`port: KEYHOOK_PORT ${taken}`])
  const apps = await examine({ ...env, KEYHOOK_PORT: '0', KEYHOOK_APPS_PORT: String(port) })
  t.strictSame(failedOf(apps), [`apps port: KEYHOOK_APPS_PORT ${taken}`])
  const off = { KEYHOOK_APPS: 'off', KEYHOOK_APPS_PORT: String(port) }
  t.strictSame(failedOf(await examine({ ...env, KEYHOOK_PORT: '0', ...off })), [])
})

await t.test('doctor asks the model server without the key, where there is one', async (t) => {
  const asked: (string | undefined)[] = []
  const server = createHttpServer((request, response) => {
    asked.push(`${request.method} ${request.url}`, request.headers.authorization)
    response.writeHead(401).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = { KEYHOOK_DATA_DIR: join(t.testdir(), 'absent'), KEYHOOK_PORT: '0' }
  const model = {
    KEYHOOK_LLM_BASE_URL: `http://127.0.0.1:${port}/v1`,
    KEYHOOK_LLM_MODEL: 'm',
    KEYHOOK_LLM_API_KEY: 'hunter2',
  }
  const find = async (given: object): Promise<Check | undefined> =>
    (await examine({ ...env, ...given })).find(({ name }) => name === 'model')

  t.equal(await find({}), undefined)
  t.match(await find(model), { ok: true, detail: `127.0.0.1:${port} answers (401)` })
  t.strictSame(asked, ['GET /v1/models', undefined])
  await new Promise((closed) => server.close(closed))
  const gone = await find(model)
  t.match(gone, { ok: false, detail: `127.0.0.1:${port}: connect: The connection was refused` })
  t.notMatch(gone?.detail, 'hunter')
})

await t.test('doctor reads the price file', async (t) => {
  const folder = t.testdir({ 'prices.json': '{"versions":[{"version":"v1"}]}' })
  const KEYHOOK_PRICES = join(folder, 'prices.json')
  const env = { KEYHOOK_DATA_DIR: join(folder, 'absent'), KEYHOOK_PRICES }
  const find = async (given: object): Promise<Check | undefined> =>
    (await examine({ ...env, ...given })).find(({ name }) => name === 'prices')
  t.equal(await find({ KEYHOOK_PRICES: '' }), undefined)
  t.match(await find({}), {
    ok: false,
    detail: /prices\.json, which cannot be used: .*effective_at/,
  })
})

await t.test('doctor names two listeners that were given one port', async (t) => {
  const env = { KEYHOOK_DATA_DIR: join(t.testdir(), 'absent') }
  const shared = (port: number): string =>
    `KEYHOOK_PORT and KEYHOOK_APPS_PORT (by default 8421) are both ${port}. Set one of them to another port`
  const both = { ...env, KEYHOOK_PORT: '18420', KEYHOOK_APPS_PORT: '18420' }
  t.strictSame(failedOf(await examine(both)), [`apps port: ${shared(18_420)}`])
  const byDefault = { ...env, KEYHOOK_PORT: '8421', KEYHOOK_HOST: '0.0.0.0' }
  const elsewhere = { ...byDefault, KEYHOOK_APPS_HOST: '127.0.0.1' }
  t.strictSame(failedOf(await examine(elsewhere)), [`apps port: ${shared(8421)}`])
  const starting = startDaemon(readConfig(both), createLog('silent'))
  await t.rejects(starting, { name: 'ConfigError', message: shared(18_420) })
  t.notOk(existsSync(env.KEYHOOK_DATA_DIR))
})

await t.test('a data folder that is a file is named by doctor, serve and commands', async (t) => {
  const file = join(t.testdir({ data: 'text' }), 'data')
  const message = `KEYHOOK_DATA_DIR ${file} is not a folder. Set it to a folder`
  const env = { KEYHOOK_DATA_DIR: file, KEYHOOK_PORT: '0' }
  t.strictSame(failedOf(await examine(env)), [`data folder: ${message}`])
  const refused = { name: 'ConfigError', message }
  await t.rejects(startDaemon(readConfig(env), createLog('silent')), refused)
  const asked = { method: 'GET', path: '/v1/keys', body: undefined }
  await t.rejects(askDaemon(readConfig(env), asked, undefined), refused)
  const below = readConfig({ ...env, KEYHOOK_DATA_DIR: join(file, 'below') })
  await t.rejects(startDaemon(below, createLog('silent')), /^KEYHOOK_DATA_DIR .* cannot be created/)
})

await t.test('a database is named in one of the forms that are told', async (t) => {
  for (const [address, file] of Object.entries({
    'sqlite:dev.db': 'dev.db',
    'sqlite://dev.db': 'dev.db',
    'sqlite:///srv/dev.db': '/srv/dev.db',
  })) {
    t.equal(readConfig({ KEYHOOK_DATABASE_URL: address }).databaseUrl, file)
  }
  const named = readConfig({ KEYHOOK_DATABASE_URL: 'sqlite:postgres.db' })
  t.notOk(usesPostgres(named), 'a file may be named so')
  const forms = 'sqlite:<path of a file>, without file: and ?options, or postgres://…'
  for (const address of ['file:dev.db', 'sqlite:file:dev.db', 'sqlite:dev.db?mode=ro', 'dev.db']) {
    const checks = await examine({ KEYHOOK_DATABASE_URL: address })
    t.strictSame(failedOf(checks), [`configuration: KEYHOOK_DATABASE_URL must be ${forms}`])
  }
})

await t.test('doctor names what cannot be listened on, and the setting to change', async (t) => {
  const env = { KEYHOOK_DATA_DIR: join(t.testdir(), 'absent'), KEYHOOK_PORT: '0' }
  const foreign = 'is not an address of this machine. Set'
  const api = await examine({ ...env, KEYHOOK_HOST: '192.0.2.1', KEYHOOK_APPS_HOST: '127.0.0.1' })
  t.strictSame(failedOf(api), [
    `port: KEYHOOK_PORT 192.0.2.1:0 ${foreign} KEYHOOK_HOST to one that is`,
  ])
  const apps = await examine({ ...env, KEYHOOK_APPS_HOST: '192.0.2.1', KEYHOOK_APPS_PORT: '0' })
  t.strictSame(failedOf(apps), [
    `apps port: KEYHOOK_APPS_PORT 192.0.2.1:0 ${foreign} KEYHOOK_APPS_HOST to one that is`,
  ])
  const server = createHttpServer()
  const refused = Object.assign(new Error('listen EACCES'), { code: 'EACCES' })
  server.listen = () => {
    // A machine may let every user listen on every port.
    setImmediate(() => server.emit('error', refused))
    return server
  }
  await t.rejects(listenOn(server, '127.0.0.1', 80, 'KEYHOOK_PORT'), {
    message:
      'KEYHOOK_PORT 127.0.0.1:80 may not be listened on by this user. ' +
      'Set KEYHOOK_PORT to a port of 1024 or above',
  })
})

await t.test('doctor knows that the key went with the data folder', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'a.db')
  const data = join(folder, 'data')
  const env = { KEYHOOK_DATA_DIR: data, KEYHOOK_PORT: '0', KEYHOOK_DATABASE_URL: `sqlite:${file}` }
  const config = readConfig({ ...env, KEYHOOK_APPS_PORT: '0' })
  const keyOf = async (given: Readonly<Record<string, string>> = {}) =>
    (await examine({ ...env, ...given })).find(({ name }) => name === 'master key')

  await runSql(file, 'VACUUM')
  const created = { ok: true, detail: 'read from the data folder, or created there' }
  t.match(await keyOf(), created, 'nothing is sealed yet')
  await (await startDaemon(config, createLog('silent'))).stop()
  const key = (await readFile(join(data, 'master-key'), 'utf8')).trim()
  await rm(data, { recursive: true })
  const before = await readFile(file)

  const gone = /^KEYHOOK_MASTER_KEY is missing: the database holds encrypted secrets/
  t.match(await keyOf(), { ok: false, detail: gone })
  await t.rejects(startDaemon(config, createLog('silent')), { message: gone }, 'as serve says')
  await rm(data, { recursive: true })
  t.match(await keyOf({ KEYHOOK_MASTER_KEY: KEY }), { ok: false, detail: /is not the key/ })
  const found = await keyOf({ KEYHOOK_MASTER_KEY: key })
  t.match(found, { ok: true, detail: 'given, and fits the database' })
  t.ok(before.equals(await readFile(file)), 'the file is as it was')
  t.notOk(existsSync(data), 'nothing is made')
})

await t.test('doctor does not migrate an SQLite file of an earlier version', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'keyhook.db')
  const env = { KEYHOOK_DATA_DIR: folder, KEYHOOK_PORT: '0', KEYHOOK_MASTER_KEY: KEY }
  const config = readConfig({ ...env, KEYHOOK_APPS_PORT: '0' })
  await (await startDaemon(config, createLog('silent'))).stop()
  await runSql(file, 'ALTER TABLE keyhook_edits DROP COLUMN knowledge')
  await runSql(file, `DELETE FROM keyhook_migrations WHERE name = 'edits/0002-knowledge'`)
  const before = await readFile(file)

  const checks = await examine(env)
  t.strictSame(failedOf(checks), [])
  const detailOf = (name: string) => checks.find((check) => check.name === name)?.detail
  t.match(detailOf('database'), /is sound; `keyhook serve` .* up to date \(1 migration\)$/)
  t.equal(detailOf('master key'), 'given, and fits the database')
  t.ok(before.equals(await readFile(file)), 'the file is as it was')

  const wrong = `k1:${Buffer.alloc(32, 2).toString('base64')}`
  const refused = failedOf(
    await examine({ ...env, KEYHOOK_MASTER_KEY: wrong, KEYHOOK_BRAND: 'other' }),
  )
  t.match(refused, [/^brand: KEYHOOK_BRAND is other/, /^master key: KEYHOOK_MASTER_KEY is not/])
  t.ok(before.equals(await readFile(file)), 'the file is still as it was')

  await (await startDaemon(config, createLog('silent'))).stop()
  t.match((await examine(env)).find(({ name }) => name === 'database')?.detail, /is sound$/)
})

await t.test(
  'doctor only reads a PostgreSQL database, and knows that the key is missing',
  async (t) => {
    const postgres = await startPostgres()
    t.teardown(() => postgres.stop())
    const url = await postgres.createDatabase()
    const env = { KEYHOOK_DATA_DIR: t.testdir(), KEYHOOK_PORT: '0', KEYHOOK_DATABASE_URL: url }
    const [missing = ''] = failedOf(await examine(env))
    t.match(missing, /^master key: KEYHOOK_MASTER_KEY must be given: .*openssl rand/)
    const fresh = await examine({ ...env, KEYHOOK_MASTER_KEY: KEY })
    t.strictSame(failedOf(fresh), [])
    const found = fresh.find(({ name }) => name === 'database')?.detail
    t.match(found, /answers; `keyhook serve` .* up to date \(\d\d migrations\)$/)

    const stored: (string | undefined)[] = []
    const inspect = async (facts: { meta(name: string): Promise<string | undefined> }) => {
      stored.push(await facts.meta('brand'))
    }
    const { store, migrated } = await openPlatformStore(url, { inspect })
    t.teardown(() => store.close())
    t.ok(migrated.length > 20, 'doctor took none of the steps')
    t.strictSame(stored, [undefined])
    await store.write((tx) => tx.accounts.putMetaOnce('brand', 'other'))
    const [refused = ''] = failedOf(await examine({ ...env, KEYHOOK_MASTER_KEY: KEY }))
    t.match(refused, /^brand: KEYHOOK_BRAND/)
  },
)
