import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Check } from '../../daemon/cli/doctor.ts'
import { examine } from '../../daemon/cli/doctor.ts'
import { openStore } from '../../plugins/store/open.ts'
import { startPostgres } from '../support/postgres.ts'

const KEY = `k1:${Buffer.alloc(32, 1).toString('base64')}`

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

await t.test(
  'doctor only reads a PostgreSQL database, and knows that the key is missing',
  async (t) => {
    const postgres = await startPostgres()
    t.teardown(() => postgres.stop())
    const url = await postgres.createDatabase()
    const env = { KEYHOOK_DATA_DIR: t.testdir(), KEYHOOK_PORT: '0', KEYHOOK_DATABASE_URL: url }
    const [missing = ''] = failedOf(await examine(env))
    t.match(missing, /^master key: KEYHOOK_MASTER_KEY must be given: .*openssl rand/)
    t.strictSame(failedOf(await examine({ ...env, KEYHOOK_MASTER_KEY: KEY })), [])

    const stored: (string | undefined)[] = []
    const inspect = async (facts: { meta(name: string): Promise<string | undefined> }) => {
      stored.push(await facts.meta('brand'))
    }
    const { store, migrated } = await openStore(url, { inspect })
    t.teardown(() => store.close())
    t.ok(migrated.length > 20, 'doctor took none of the steps')
    t.strictSame(stored, [undefined])
    await store.write((tx) => tx.accounts.putMetaOnce('brand', 'other'))
    const [refused = ''] = failedOf(await examine({ ...env, KEYHOOK_MASTER_KEY: KEY }))
    t.match(refused, /^brand: KEYHOOK_BRAND/)
  },
)
