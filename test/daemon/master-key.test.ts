import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { runCli } from '../../daemon/cli/program.ts'
import { commandsOf } from '../../daemon/operations/commands.ts'
import { readConfig } from '../../daemon/config/config.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import { masterKeyStatuses } from '../../daemon/families/seals/key-status.ts'
import { createRandom } from '../../daemon/machine/ports.ts'
import { reencryptAll } from '../../daemon/worker/reencrypt.ts'
import type { Keyring } from '../../lib/engine/keyring.ts'
import { createKeyring, keyIdOf } from '../../lib/engine/keyring.ts'
import { headersAad, encryptHeaders, secretAad } from '../../lib/engine/targets.ts'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { codeOf } from '../support/answer.ts'
import { askControl } from '../support/control.ts'
import { until } from '../support/daemon.ts'
import { ACCOUNT, createBench, plainWebhook } from '../support/engine.ts'
import { headersOf, receiverFor } from '../support/webhooks.ts'
import type { AnyBody } from '../support/world.ts'

const OPERATOR = { type: 'operator', id: null } as const
const random = createRandom()
const bytesOf = (id: string): Uint8Array => new Uint8Array(32).fill(id.charCodeAt(1))
const settingOf = (...ids: readonly string[]): string =>
  ids.map((id) => `${id}:${Buffer.from(bytesOf(id)).toString('base64')}`).join(',')
const ringOf = (...ids: readonly string[]): Keyring =>
  createKeyring(
    ids.map((id) => ({ id, key: bytesOf(id) })),
    random,
  )

const envOf = (folder: string, ...ids: readonly string[]) => ({
  KEYHOOK_DATA_DIR: folder,
  KEYHOOK_PORT: '0',
  KEYHOOK_EVENT_TYPES: 'order.paid',
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: 'correct horse battery',
  KEYHOOK_MASTER_KEY: settingOf(...ids),
})

interface Running {
  readonly daemon: Daemon
  readonly lines: readonly string[]
}

async function serve(t: Test, folder: string, ...ids: readonly string[]): Promise<Running> {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const daemon = await startDaemon(readConfig(envOf(folder, ...ids), 'dev'), log)
  t.teardown(() => daemon.stop().catch(() => undefined))
  return { daemon, lines }
}

async function command(folder: string, ids: readonly string[], line: string): Promise<string> {
  let out = ''
  const terminal = {
    env: envOf(folder, ...ids),
    out: (more: string) => void (out += more),
    err: (more: string) => void (out += more),
    readInput: () => Promise.resolve(''),
  }
  await runCli(line.split(' '), terminal, commandsOf(FAMILIES))
  return out
}

await t.test('a master key is replaced while the daemon serves', async (t) => {
  const folder = t.testdir()
  const receiver = await receiverFor(t)
  const ask = askControl(folder)
  const first = await serve(t, folder, 'k1')
  const scopes = ['webhooks:*', 'events:*', 'keys:*']
  const { key } = (await ask('POST', '/v1/keys', { name: 'K', scopes })) as { key: string }
  const body = { url: receiver.url, events: ['order.paid'], headers: { 'X-Shop': 'a secret' } }
  const post = async (daemon: Daemon, path: string, given: AnyBody, once?: string) => {
    const response = await fetch(daemon.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(once === undefined ? {} : { 'idempotency-key': once }),
      },
      body: JSON.stringify(given),
    })
    return { status: response.status, body: (await response.json()) as AnyBody }
  }
  const made = await post(first.daemon, '/v1/webhooks', body, 'once')
  t.equal(made.status, 201)
  const arrives = async (daemon: Daemon): Promise<void> => {
    const before = receiver.requests.length
    t.equal((await post(daemon, '/v1/events', { type: 'order.paid', data: {} })).status, 202)
    await until('the event arrives', () => receiver.requests.length > before)
    const sent = receiver.requests.at(-1)
    const headers = sent === undefined ? {} : headersOf(sent)
    t.equal(headers['X-Shop'], 'a secret')
    await verifyWebhook(sent?.body ?? '', headers, String(made.body['secret']))
  }
  await arrives(first.daemon)
  await first.daemon.stop()

  await t.test('taken away too early it is named, before anything is migrated', async (t) => {
    await t.rejects(serve(t, folder, 'k2'), {
      name: 'ConfigError',
      message: /lacks the key k1, with which secrets of this database .*k2:…,k1:…/,
    })
    const doctor = await command(folder, ['k2'], 'doctor')
    t.match(doctor, /FAILED +master key +KEYHOOK_MASTER_KEY lacks the key k1/)
  })
  await t.test('beside the new one it opens what it sealed, which is moved', async (t) => {
    const { daemon, lines } = await serve(t, folder, 'k2', 'k1')
    const status = async (): Promise<AnyBody[]> =>
      (await ask('GET', '/v1/master-keys'))['data'] as AnyBody[]
    await until('all is moved', async () => (await status())[0]?.['sealed'] === 3)
    t.match(await status(), [
      { id: 'k2', status: 'current', sealed: 3, remembered_until: null },
      { id: 'k1', status: 'remembered', sealed: 0, remembered_until: /Z$/ },
    ])
    await until('the log says so', () => lines.some((line) => line.includes('every secret is')))
    t.match(
      lines.join(''),
      /"remembered":\["k1"\].*every secret is encrypted with the master key k2/,
    )
    await arrives(daemon)
    const again = await post(daemon, '/v1/webhooks', body, 'once')
    t.match(again, { status: 201, body: { id: made.body['id'], secret: null } })
    const other = await post(daemon, '/v1/webhooks', { ...body, description: 'x' }, 'once')
    t.equal(codeOf(other), '422 idempotency_mismatch')
    const table = await command(folder, ['k2', 'k1'], 'master-key status')
    t.match(table, /ID +STATUS +SEALED +REMEMBERED_UNTIL\nk2 +current +3 +-\nk1 +remembered +0 +\d/)
    const doctor = await command(folder, ['k2', 'k1'], 'doctor')
    t.match(doctor, /ok +master key +k2 encrypts; k1 may be removed after \d/)
    await daemon.stop()
  })
  await t.test('without it everything goes on, but answers known by it', async (t) => {
    t.match(await command(folder, ['k2'], 'doctor'), /k1 is missing for answers kept until \d/)
    const { daemon } = await serve(t, folder, 'k2')
    await arrives(daemon)
    const again = await post(daemon, '/v1/webhooks', body, 'once')
    t.equal(codeOf(again), '503 secret_unreadable')
    t.equal((await post(daemon, '/v1/webhooks', body, 'anew')).status, 201)
    await daemon.stop()
  })
})

const COUNT = 250

/** Webhooks with a secret and headers each, under one key. */
async function fill(t: Test, keyring: Keyring): Promise<PlatformStore> {
  const { store } = await openPlatformStore(join(t.testdir(), 'seals.sqlite'))
  t.teardown(() => store.close())
  let made = 0
  const newId = (): string => `id${String((made += 1)).padStart(5, '0')}`
  await store.write(async (tx) => {
    for (let at = 0; at < COUNT; at += 1) {
      const webhook = plainWebhook(newId, keyring, random)
      const headers = encryptHeaders(webhook.id, { 'X-Own': webhook.id }, keyring)
      await tx.webhooks.insert({ ...webhook, headers })
    }
  })
  return store
}

async function countUnder(store: PlatformStore, keyId: string): Promise<number> {
  const counts = await store.encryptedSecrets.count(0)
  return counts.filter(({ key_id }) => key_id === keyId).reduce((sum, { count }) => sum + count, 0)
}

await t.test('what a crash leaves over is moved by the next pass', async (t) => {
  const old = ringOf('k1')
  const store = await fill(t, old)
  const keyring = ringOf('k2', 'k1')
  const plain = (await store.webhooksOf(ACCOUNT)).map(({ secrets: [secret] }) =>
    old.decrypt(secret?.encrypted ?? '', secretAad(secret?.id ?? '')),
  )
  let writes = 0
  const write: PlatformStore['write'] = (work) => {
    writes += 1
    return writes === 3 ? Promise.reject(new Error('the power went')) : store.write(work)
  }
  await t.rejects(reencryptAll({ store: { ...store, write }, keyring }), /the power went/)
  t.equal(await countUnder(store, 'k2'), 200)
  t.equal(await countUnder(store, 'k1'), 2 * COUNT - 200)

  let asked = 0
  const stopped = await reencryptAll({ store, keyring }, undefined, () => (asked += 1) > 2)
  t.ok(stopped.moved > 0 && (await countUnder(store, 'k1')) > 0, 'it stops between two chunks')

  const told: number[] = []
  await reencryptAll({ store, keyring }, ({ moved }) => told.push(moved))
  t.equal(await countUnder(store, 'k1'), 0)
  t.equal(told.at(-1), 2 * COUNT - 200 - stopped.moved)
  t.same(await reencryptAll({ store, keyring }), { moved: 0, passed: 0, unreadable: 0 })
  const alone = ringOf('k2')
  for (const [at, { id, secrets, headers }] of (await store.webhooksOf(ACCOUNT)).entries()) {
    const [secret] = secrets
    t.equal(alone.decrypt(secret?.encrypted ?? '', secretAad(secret?.id ?? '')), plain[at])
    t.equal(
      alone.decrypt(headers?.encrypted ?? '', headersAad(id)),
      JSON.stringify({ 'X-Own': id }),
    )
  }
  t.match(masterKeyStatuses(keyring, await store.encryptedSecrets.count(0)), [
    { id: 'k2', status: 'current', sealed: 2 * COUNT },
    { id: 'k1', status: 'removable', sealed: 0 },
  ])
})

await t.test('what changes meanwhile is left alone', async (t) => {
  const old = ringOf('k1')
  const store = await fill(t, old)
  const [replaced, deleted, unread] = await store.webhooksOf(ACCOUNT)
  if (!replaced || !deleted || !unread) throw new Error('no webhooks')
  const headers = encryptHeaders(replaced.id, { 'X-Own': 'newer' }, old)
  const lost = encryptHeaders(unread.id, { 'X-Own': 'lost' }, ringOf('k9'))
  await store.write((tx) => tx.webhooks.update(unread.id, { headers: lost }, OPERATOR, 0))
  const encryptedElsewhere: PlatformStore['encryptedSecrets']['encryptedElsewhere'] = async (
    kind,
    ...rest
  ) => {
    const texts = await store.encryptedSecrets.encryptedElsewhere(kind, ...rest)
    if (kind === 'webhook_headers') {
      await store.write(async (tx) => {
        await tx.webhooks.update(replaced.id, { headers }, OPERATOR, 0)
        await tx.webhooks.delete(deleted.id, 0)
      })
    }
    return texts
  }
  const keyring = ringOf('k2', 'k1')
  const racing = { ...store, encryptedSecrets: { ...store.encryptedSecrets, encryptedElsewhere } }
  const sum = await reencryptAll({ store: racing, keyring })
  t.same(sum, { moved: 2 * COUNT - 3, passed: 2, unreadable: 1 })
  t.same((await store.webhooks.get(ACCOUNT, replaced.id))?.headers, headers)
  t.same((await store.webhooks.get(ACCOUNT, unread.id))?.headers, lost)
  t.same(await reencryptAll({ store, keyring }), { moved: 1, passed: 0, unreadable: 1 })
  t.same(
    masterKeyStatuses(keyring, await store.encryptedSecrets.count(0)).map(({ id, status }) => [
      id,
      status,
    ]),
    [
      ['k2', 'current'],
      ['k1', 'removable'],
      ['k9', 'missing'],
    ],
  )
})

await t.test('a daemon that lacks the key sends nothing, and loses nothing', async (t) => {
  const bench = await createBench(t)
  const webhook = await bench.addWebhook('a')
  const own = { id: 'k1', key: new Uint8Array(32).fill(7) }
  const keyring = createKeyring([{ id: 'k2', key: bytesOf('k2') }, own], random)
  t.equal((await reencryptAll({ store: bench.store, keyring })).moved, 1)
  await bench.engine.dispatcher.start()
  await bench.publish(3)
  await bench.clock.advance(5 * 60_000)
  t.equal(bench.sender.sent.length, 0)
  t.same(await bench.statuses(webhook.id), { pending: 3 })
  t.match(await bench.webhook(webhook.id), { status: 'active', consecutive_failures: 0 })
  const [secret] = (await bench.webhook(webhook.id))?.secrets ?? []
  t.equal(keyIdOf(secret?.encrypted ?? ''), 'k2')
})

await t.test('a mark is known under every key that is given', (t) => {
  const before = ringOf('k1')
  const after = ringOf('k2', 'k1')
  const mark = before.fingerprint('a text')
  t.notMatch(mark, 'a text')
  t.ok(after.matches('a text', mark))
  t.notOk(after.matches('another', mark))
  t.not(after.fingerprint('a text'), mark)
  t.ok(after.matches('a text', after.fingerprint('a text')))
  t.throws(() => ringOf('k2').matches('a text', mark), { code: 'secret_unreadable' })
  t.throws(() => ringOf('k2').matches('a text', 'no mark'), { code: 'secret_unreadable' })
  t.end()
})
