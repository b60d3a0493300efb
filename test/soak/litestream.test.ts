/** Continuous copies by Litestream, which docs/operate.md configures, while a daemon is written to and killed. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { MINUTE, SECOND } from '../../lib/time.ts'
import { openReader } from '../../plugins/store/sql/sqlite/reader.ts'
import { ROOT } from '../arch/source.ts'
import { runKeyhook } from '../support/backups.ts'
import { askControl } from '../support/control.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import { findLitestream } from '../support/litestream.ts'

/** What the page says that a copy loses at most, of a machine that has nothing else to do; and what is allowed here. */
const BEHIND = 10 * SECOND
const PUBLISHERS = 4
const LOAD = 12 * SECOND

t.setTimeout(10 * MINUTE)
const litestream = findLitestream()

/** The configuration of the page, with a folder in the place of the bucket. */
function configure(file: string, database: string, copies: string): void {
  const page = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8')
  const [, yaml = ''] = /```yaml\n(dbs:[^`]*)```/.exec(page) ?? []
  const here = yaml
    .replace(/path: \/var\S*/, `path: ${database}`)
    .replace('type: s3', 'type: file')
    .replace(/ *bucket: .*\n/, '')
    .replace(/ path: keyhook\.db/, ` path: ${copies}`)
    .replace(/ *region: .*\n/, '')
  if (!here.includes(database) || !here.includes(copies)) throw new Error(`not the page: ${yaml}`)
  writeFileSync(file, here.replace(/^\s*\n/gm, ''))
}

async function idsIn(file: string): Promise<ReadonlySet<string>> {
  const { query, close } = await openReader(file)
  const rows = await query<{ id: string }>('SELECT id FROM keyhook_events')
  const [checked] = await query<{ integrity_check: string }>('PRAGMA integrity_check')
  await close()
  if (checked?.integrity_check !== 'ok') throw new Error(JSON.stringify(checked))
  return new Set(rows.map(({ id }) => id))
}

await t.test(
  'a copy of a daemon that was killed under load serves, and lacks its last seconds at most',
  async (t) => {
    if (litestream === undefined) {
      t.pass('not run: neither Litestream nor Go, which builds it, is on the PATH')
      return
    }
    const place = t.testdir()
    const data = join(place, 'data')
    const copies = join(place, 'copies')
    const config = join(place, 'litestream.yml')
    const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
    t.teardown(() => receiver.close())
    const settings = {
      KEYHOOK_OWNER_EMAIL: 'owner@example.com',
      KEYHOOK_OWNER_PASSWORD: 'a password of this test',
      KEYHOOK_EVENT_TYPES: 'order.paid',
    }
    const daemon = await startDaemonProcess({ ...settings, KEYHOOK_DATA_DIR: data })
    t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
    configure(config, join(data, 'keyhook.db'), copies)
    const run = [litestream, 'replicate', '-config', config] as const
    const copying = spawn(run[0], run.slice(1), { stdio: ['ignore', 'ignore', 'inherit'] })
    const copied = once(copying, 'exit')
    t.teardown(() => copying.kill('SIGKILL'))

    const ask = askControl(data)
    const url = `http://127.0.0.1:${receiver.port}/`
    await ask('POST', '/v1/webhooks', { url, events: ['order.paid'] })
    const { key } = (await ask('POST', '/v1/keys', { name: 'one', scopes: ['events:*'] })) as {
      readonly key: string
    }
    const accepted: { readonly id: string; readonly at: number }[] = []
    const end = Date.now() + LOAD
    const publish = async (): Promise<void> => {
      while (Date.now() < end) {
        const event = { type: 'order.paid', data: { text: 'x'.repeat(500) } }
        const { id } = (await ask('POST', '/v1/events', event)) as { readonly id: string }
        accepted.push({ id, at: Date.now() })
      }
    }
    await Promise.all(Array.from({ length: PUBLISHERS }, publish))
    const killedAt = Date.now()
    t.equal(copying.exitCode, null, 'the copies were made until then')
    copying.kill('SIGKILL')
    await Promise.all([daemon.end('SIGKILL'), copied])

    const restored = join(place, 'restored')
    mkdirSync(restored)
    const file = join(restored, 'keyhook.db')
    const { status, stderr } = spawnSync(
      run[0],
      ['restore', '-config', config, '-o', file, join(data, 'keyhook.db')],
      { encoding: 'utf8' },
    )
    t.equal(status, 0, stderr)
    const ids = await idsIn(file)
    const expected = accepted.filter(({ at }) => at < killedAt - BEHIND)
    t.ok(expected.length > 0 && ids.size > expected.length)
    t.same(
      expected.filter(({ id }) => !ids.has(id)),
      [],
    )
    const lost = accepted.filter(({ id }) => !ids.has(id))
    t.comment(`${accepted.length} accepted, ${lost.length} of the end are not in the copy`)

    for (const name of ['master-key', 'keyhook.id'])
      copyFileSync(join(data, name), join(restored, name))
    cpSync(join(data, 'apps'), join(restored, 'apps'), { recursive: true })
    const examined = await runKeyhook(restored, ['doctor'], { env: settings })
    t.equal(examined.code, 0, examined.out + examined.err)
    const again = await startDaemonProcess({ ...settings, KEYHOOK_DATA_DIR: restored })
    t.teardown(() => again.end('SIGTERM').then(() => undefined))
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ type: 'order.paid', data: {} })
    const response = await fetch(`${again.url}/v1/events`, { method: 'POST', headers, body })
    t.equal(response.status, 202)
    await until('what the copy holds is sent, and what is published to it', async () => {
      const sent = new Set(
        receiver.requests.map((one) => (JSON.parse(one.body) as { id: string }).id),
      )
      await sleep(100)
      return sent.size > ids.size && [...ids].every((id) => sent.has(id))
    })
  },
)
