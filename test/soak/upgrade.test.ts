/** Upgrades of databases that daemons of released versions left, under load; recorded from those daemons. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import { openDatabase } from '../../plugins/sqlite/open.ts'
import pg from 'pg'
import { runKeyhook } from '../support/backups.ts'
import type { DaemonProcess } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import type { DatabaseKind, Recorded } from '../support/older-database.ts'
import { RECORDED_MASTER_KEY, makeOlder } from '../support/older-database.ts'
import { startPostgres } from '../support/postgres.ts'
import type { Receiver } from '../support/receiver.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'

const VERSION = '0.1.0'
const server = await startPostgres()
t.teardown(() => server.stop())

interface Stage {
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  readonly recorded: Recorded
  readonly receiver: Receiver
  readonly run: (sql: string) => Promise<void>
  readonly isShared: boolean
}

async function stage(t: Test, kind: DatabaseKind): Promise<Stage> {
  const folder = join(t.testdir({}), 'data')
  mkdirSync(folder)
  const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
  t.teardown(() => receiver.close())
  const isShared = kind === 'postgres'
  const place = isShared ? await server.createDatabase() : join(folder, 'keyhook.db')
  const recorded = await makeOlder(VERSION, kind, place, receiver.port)
  const env = {
    KEYHOOK_DATA_DIR: folder,
    KEYHOOK_MASTER_KEY: RECORDED_MASTER_KEY,
    KEYHOOK_EVENT_TYPES: 'order.paid',
    ...(isShared ? { KEYHOOK_DATABASE_URL: place } : {}),
  }
  const run = async (sql: string): Promise<void> => {
    if (!isShared) {
      const database = await openDatabase(place, 'write')
      await database.exec(sql)
      await database.close()
      return
    }
    const client = new pg.Client({ connectionString: place })
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  return { env, folder, recorded, receiver, run, isShared }
}

interface Checked {
  readonly schema: string
  readonly pending: readonly string[]
  readonly newer: readonly string[]
  readonly daemons: number | null
  readonly needs_stop: boolean
}

async function check({ env, folder }: Stage): Promise<Checked & { readonly code: number }> {
  const { code, out, err } = await runKeyhook(folder, ['upgrade', '--check', '--json'], { env })
  if (out === '') throw new Error(err)
  return { code, ...(JSON.parse(out) as Checked) }
}

async function send(url: string, key: string, path: string, body?: object) {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const arrived = ({ requests }: Receiver): ReadonlyMap<string, Receiver['requests'][number]> =>
  new Map(requests.map((one) => [String((JSON.parse(one.body) as { id: string }).id), one]))

/** Several clients publish from before the first daemon answers until all have it. */
async function publishUntil(
  urls: () => readonly string[],
  key: string,
  isOver: () => boolean,
): Promise<readonly string[]> {
  const accepted: string[] = []
  const client = async (number: number): Promise<void> => {
    while (!isOver()) {
      const url = urls()[number % Math.max(1, urls().length)]
      const sent =
        url === undefined
          ? undefined
          : await send(url, key, '/v1/events', { type: 'order.paid', data: { number } }).catch(
              () => undefined,
            )
      if (sent?.status === 202) accepted.push(String(sent.body['id']))
      else await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  await Promise.all([0, 1, 2, 3].map(client))
  return accepted
}

for (const kind of ['sqlite', 'postgres'] as const) {
  await t.test(
    `${kind}: a database of ${VERSION} is upgraded with its data, under load`,
    async (t) => {
      const staged = await stage(t, kind)
      const { env, folder, recorded, receiver, isShared } = staged
      const before = await check(staged)
      t.match(before, {
        code: 0,
        schema: 'requests/0002-audit-ip',
        newer: [],
        daemons: isShared ? 0 : null,
        needs_stop: true,
      })
      t.ok(before.pending.includes('webhooks/0005-trace-headers'))
      t.notOk(before.pending.includes('webhooks/0001-webhooks-and-secrets'))
      const daemons: DaemonProcess[] = []
      let isOver = false
      const publishing = publishUntil(
        () => daemons.map(({ url }) => url),
        recorded.child.key,
        () => isOver,
      )
      publishing.catch(() => undefined)
      const folders = isShared ? [folder, join(folder, 'second')] : [folder]
      // On PostgreSQL two start together, and one of them migrates.
      const started = await Promise.all(
        folders.map(async (data) => {
          const daemon = await startDaemonProcess({ ...env, KEYHOOK_DATA_DIR: data })
          daemons.push(daemon)
          return daemon
        }),
      )
      t.teardown(() => Promise.all(started.map((one) => one.end('SIGTERM'))))
      const [{ url } = { url: '' }] = started
      await until('what waited is sent', () => arrived(receiver).has(recorded.waiting))
      isOver = true
      const accepted = await publishing
      t.ok(accepted.length > 0)
      await until('every accepted event is sent', () =>
        accepted.every((id) => arrived(receiver).has(id)),
      )
      const sent = arrived(receiver).get(recorded.waiting)
      t.match(sent?.head, /\r\nx-own: a header of this test\r\n/i, 'its own header is decrypted')
      t.notOk(arrived(receiver).has(recorded.delivered), 'what was delivered is not sent again')
      const headers = Object.fromEntries(
        (sent?.head ?? '')
          .split('\r\n')
          .slice(1)
          .map((line) => {
            const [name = '', ...value] = line.split(': ')
            return [name.toLowerCase(), value.join(': ')] as const
          }),
      )
      const verified = await verifyWebhook(sent?.body ?? '', headers, recorded.secret)
      t.equal(verified.id, recorded.waiting, 'signed with the secret of before')

      t.match(await send(url, recorded.root.key, '/v1/keys/self'), { status: 200 })
      t.match(await send(url, recorded.gone.key, '/v1/keys/self'), { status: 401 })
      const made = await send(url, recorded.root.key, '/v1/keys', {
        name: 'new',
        scopes: ['events:read'],
      })
      t.equal(made.status, 201)
      const read = await send(url, recorded.child.key, `/v1/events/${recorded.delivered}`)
      t.match(read, { status: 200, body: { type: 'order.paid' } })
      const after = await check(staged)
      t.match(after, { code: 0, pending: [], newer: [], needs_stop: false })
      if (isShared) t.equal(after.daemons, 2)
    },
  )

  await t.test(`${kind}: this version runs on the schema of the next`, async (t) => {
    const staged = await stage(t, kind)
    const { env, recorded, receiver, run } = staged
    const first = await startDaemonProcess(env)
    await first.end('SIGTERM')
    // As a next version would add.
    await run('ALTER TABLE keyhook_webhooks ADD COLUMN next_setting TEXT')
    await run('ALTER TABLE keyhook_events ADD COLUMN next_column BIGINT NOT NULL DEFAULT 0')
    await run('CREATE TABLE keyhook_next (id TEXT PRIMARY KEY)')
    await run(
      `INSERT INTO keyhook_migrations (name, at) VALUES ('webhooks/0999-next', 9000000000000)`,
    )
    t.match(await check(staged), { pending: [], newer: ['webhooks/0999-next'], needs_stop: false })
    const again = await startDaemonProcess(env)
    t.teardown(() => again.end('SIGTERM'))
    const published = await send(again.url, recorded.child.key, '/v1/events', {
      type: 'order.paid',
      data: {},
    })
    t.equal(published.status, 202)
    await until('it is sent', () => arrived(receiver).has(String(published.body['id'])))
  })
}

await t.test('an upgrade that needs a stop says so while a daemon serves', async (t) => {
  const staged = await stage(t, 'postgres')
  const daemon = await startDaemonProcess(staged.env)
  t.teardown(() => daemon.end('SIGTERM'))
  // As if the daemon that serves were of a version before jobs.
  await staged.run(`DELETE FROM keyhook_migrations WHERE name LIKE 'jobs/%'`)
  t.match(await check(staged), { code: 3, daemons: 1, needs_stop: true })
  const { out } = await runKeyhook(staged.folder, ['upgrade', '--check'], { env: staged.env })
  t.match(out, /Stop every daemon first/)
})

await t.test('there must be a database, and a check', async (t) => {
  const none = await runKeyhook(join(t.testdir({}), 'none'), ['upgrade', '--check'])
  t.match(none, { code: 1, err: /there is no database at/ })
  t.equal((await runKeyhook(t.testdir({}), ['upgrade'])).code, 2)
})
