import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { readConfig } from '../../daemon/config/config.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { encryptSecrets } from '../../daemon/families/settings/service.ts'
import { serviceSecretAad, secretIdOf } from '../../plugins/platform/contract/services.ts'
import { createRandom } from '../../daemon/machine/ports.ts'
import { reencryptAll } from '../../daemon/worker/reencrypt.ts'
import type { Keyring } from '../../lib/engine/keyring.ts'
import { createKeyring } from '../../lib/engine/keyring.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { codeOf } from '../support/answer.ts'
import { askControl } from '../support/control.ts'
import { until } from '../support/daemon.ts'
import { startDns } from '../support/dns.ts'
import type { AnyBody } from '../support/world.ts'

const SECRET = 'correct-horse-battery-staple'
const NOW = Date.UTC(2026, 0, 31)

const random = createRandom()
const bytesOf = (id: string): Uint8Array => new Uint8Array(32).fill(id.charCodeAt(1))
const ringOf = (...ids: readonly string[]): Keyring =>
  createKeyring(
    ids.map((id) => ({ id, key: bytesOf(id) })),
    random,
  )

const COUNT = 30

/** Services of several apps with ten secrets each, under one key. */
async function fill(t: Test, keyring: Keyring): Promise<PlatformStore> {
  const { store } = await openPlatformStore(join(t.testdir(), 'secrets.sqlite'))
  t.teardown(() => store.close())
  for (let at = 0; at < COUNT; at += 1) await put(store, keyring, `app_${at}`, 'mail', SECRET)
  return store
}

function put(store: PlatformStore, keyring: Keyring, app_id: string, name: string, value: string) {
  const given = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`N${at}`, value]))
  const secrets = encryptSecrets(keyring, app_id, name, given)
  const service = { app_id, name, kind: 'email', config: {} } as const
  return store.write((tx) => tx.services.put(service, secrets, NOW))
}

async function openAll(
  store: PlatformStore,
  keyring: Keyring,
  appId: string,
): Promise<readonly string[]> {
  const secrets = (await store.services.get(appId, 'mail'))?.secrets ?? []
  return secrets.map(({ name, sealed }) =>
    keyring.decrypt(sealed, serviceSecretAad(secretIdOf(appId, 'mail', name))),
  )
}

await t.test('secrets of services are moved to a new master key, and open as before', async (t) => {
  const store = await fill(t, ringOf('k1'))
  const keyring = ringOf('k2', 'k1')
  const sum = await reencryptAll({ store, keyring })
  t.same(sum, { moved: 10 * COUNT, passed: 0, unreadable: 0 })
  for (const appId of ['app_0', `app_${COUNT - 1}`]) {
    t.same(await openAll(store, ringOf('k2'), appId), Array<string>(10).fill(SECRET))
  }
  t.same(await reencryptAll({ store, keyring }), { moved: 0, passed: 0, unreadable: 0 })
})

await t.test('one that is set anew meanwhile keeps what it was set to', async (t) => {
  const old = ringOf('k1')
  const store = await fill(t, old)
  const encryptedElsewhere: PlatformStore['encryptedSecrets']['encryptedElsewhere'] = async (
    kind,
    ...rest
  ) => {
    const texts = await store.encryptedSecrets.encryptedElsewhere(kind, ...rest)
    if (kind === 'service_secret' && texts.some(({ id }) => id.startsWith('app_0/'))) {
      await put(store, old, 'app_0', 'mail', 'newer')
    }
    return texts
  }
  const keyring = ringOf('k2', 'k1')
  const racing = { ...store, encryptedSecrets: { ...store.encryptedSecrets, encryptedElsewhere } }
  t.same(await reencryptAll({ store: racing, keyring }), { moved: 290, passed: 10, unreadable: 0 })
  t.same(await openAll(store, keyring, 'app_0'), Array<string>(10).fill('newer'))
  t.same(await reencryptAll({ store, keyring }), { moved: 10, passed: 0, unreadable: 0 })
  t.same(await openAll(store, ringOf('k2'), 'app_0'), Array<string>(10).fill('newer'))
})

interface Running {
  readonly daemon: Daemon
  readonly lines: readonly string[]
}

async function serve(t: Test, folder: string, ...ids: readonly string[]): Promise<Running> {
  const dns = await startDns(t)
  const masterKey = ids.map((id) => `${id}:${Buffer.from(bytesOf(id)).toString('base64')}`)
  const env = {
    KEYHOOK_DATA_DIR: folder,
    KEYHOOK_PORT: '0',
    KEYHOOK_OWNER_EMAIL: 'owner@example.com',
    KEYHOOK_OWNER_PASSWORD: 'correct horse battery',
    KEYHOOK_MASTER_KEY: masterKey.join(','),
    KEYHOOK_APPS_DOMAIN: 'apps.example.net',
    KEYHOOK_DNS_SERVERS: dns.address,
  }
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
  const daemon = await startDaemon(readConfig(env, 'dev'), log)
  t.teardown(() => daemon.stop().catch(() => undefined))
  return { daemon, lines }
}

/** Every byte of what a folder holds: what a backup of it takes. */
function bytesIn(folder: string): string {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')
}

await t.test('a daemon takes, seals and moves secrets, and shows none on any way in', async (t) => {
  const folder = t.testdir()
  const ask = askControl(folder)
  const first = await serve(t, folder, 'k1')
  const scopes = ['apps:*', 'settings:*']
  const { key } = (await ask('POST', '/v1/keys', { name: 'K', scopes })) as { key: string }
  const seen: string[] = []
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(first.daemon.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    seen.push(text)
    return { status: response.status, body: JSON.parse(text) as AnyBody }
  }
  const app = String((await send('POST', '/v1/apps', { template_id: 'blank' })).body['id'])
  const path = `/v1/apps/${app}/settings`
  const mail = { kind: 'email', secrets: { PASSWORD: SECRET } }
  t.match(await send('PUT', `${path}/services/mail`, mail), {
    status: 200,
    body: { secret_names: ['PASSWORD'] },
  })
  const spare = { kind: 'email', secrets: { PASSWORD: SECRET, SPARE: `${SECRET}!` } }
  t.match(await ask('PUT', `${path}/services/spare`, spare), {
    secret_names: ['PASSWORD', 'SPARE'],
  })
  const wrong = await send('PUT', `${path}/services/mail`, { ...mail, kind: SECRET })
  t.equal(codeOf(wrong), '400 invalid_request')
  seen.push(JSON.stringify(await ask('GET', `${path}/services`)))
  seen.push(JSON.stringify(await ask('GET', '/v1/audit-log')))

  const domain = await send('POST', `${path}/domains`, { hostname: 'shop.example.com' })
  t.match(await ask('POST', `${path}/domains/${String(domain.body['id'])}/verify`), {
    status: 'pending',
    verification_error: { code: 'challenge_missing' },
  })
  t.notMatch(bytesIn(folder), SECRET, 'while it serves')
  await first.daemon.stop()
  t.notMatch(bytesIn(folder), SECRET, 'once it was stopped')
  t.notMatch(seen.join('\n'), SECRET)
  t.notMatch(first.lines.join('\n'), SECRET)

  await t.rejects(serve(t, folder, 'k2'), { message: /lacks the key k1/ })
  const second = await serve(t, folder, 'k2', 'k1')
  await until('all is moved', () =>
    second.lines.some((line) => line.includes('every secret is encrypted')),
  )
  await second.daemon.stop()
  const third = await serve(t, folder, 'k2')
  const { services } = third.daemon.platform.store
  const [kept] = (await services.get(app, 'mail'))?.secrets ?? []
  const place = serviceSecretAad(secretIdOf(app, 'mail', 'PASSWORD'))
  t.equal(ringOf('k2').decrypt(kept?.sealed ?? '', place), SECRET)
})
