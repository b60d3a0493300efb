import t from 'tap'
import { askControl } from '../support/control.ts'
import type { DaemonProcess, Env } from '../support/daemon.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import { startPostgres } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'

/** The daemon's key for secrets, which PostgreSQL needs from outside. */
const MASTER_KEY = `k1:${Buffer.alloc(32, 7).toString('base64')}`

interface Tested {
  readonly status: string
  readonly attempt_count: number
  readonly error: { readonly code: string } | null
}

/**
 * Tests a webhook of a receiver that hangs, right after a start: the test lasts as long as an attempt,
 * while the daemon looks for what earlier processes left claimed.
 */
async function testAtStart(env: Env): Promise<{ tested: Tested; sent: number }> {
  const receiver = await startReceiver(() => undefined)
  const folder = env['KEYHOOK_DATA_DIR'] ?? ''
  const ask = askControl(folder)
  let daemon: DaemonProcess | undefined
  try {
    daemon = await startDaemonProcess(env)
    const url = `http://127.0.0.1:${receiver.port}/`
    const { id } = await ask('POST', '/v1/webhooks', { url, events: ['webhook.test'] })
    await daemon.end('SIGTERM')
    daemon = await startDaemonProcess(env)
    const tested = await ask('POST', `/v1/webhooks/${String(id)}/test`)
    return { tested: tested as unknown as Tested, sent: receiver.requests.length }
  } finally {
    await daemon?.end('SIGTERM')
    await receiver.close()
  }
}

const server = await startPostgres()
t.teardown(() => server.stop())

t.jobs = 2
const databases: Readonly<Record<string, () => Promise<Env>>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({
    KEYHOOK_DATABASE_URL: await server.createDatabase(),
    KEYHOOK_MASTER_KEY: MASTER_KEY,
  }),
}
for (const [database, settings] of Object.entries(databases)) {
  void t.test(
    `a test right after a start is sent once and answered whole: ${database}`,
    async (t) => {
      const env = {
        KEYHOOK_DATA_DIR: t.testdir(),
        KEYHOOK_OWNER_EMAIL: 'owner@example.com',
        KEYHOOK_OWNER_PASSWORD: 'a password of this test',
        ...(await settings()),
      }
      const { tested, sent } = await testAtStart(env)
      t.match(tested, { status: 'exhausted', attempt_count: 1, error: { code: 'timeout' } })
      t.equal(sent, 1, 'the receiver heard of it once')
    },
  )
}
