import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openReader } from '../../plugins/store/sql/sqlite/reader.ts'
import { createBackup, runKeyhook } from '../support/backups.ts'
import { askControl } from '../support/control.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import { sized } from '../support/soak.ts'

/** Backups that are made while events are published, each restored. */
const BACKUPS = sized(3, 5, 50)
const PUBLISHERS = 8
const BATCH = 20

async function eventsIn(file: string): Promise<ReadonlySet<string>> {
  const { query, close } = await openReader(file)
  const rows = await query<{ id: string }>('SELECT id FROM keyhook_events')
  await close()
  return new Set(rows.map(({ id }) => id))
}

void t.test(
  'a backup under load verifies, and its copy has every event acknowledged before its start',
  async (t) => {
    const place = t.testdir()
    const data = join(place, 'data')
    const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
    const daemon = await startDaemonProcess({
      KEYHOOK_DATA_DIR: data,
      KEYHOOK_OWNER_EMAIL: 'owner@example.com',
      KEYHOOK_OWNER_PASSWORD: 'a password of this test',
      KEYHOOK_EVENT_TYPES: 'order.paid',
    })
    const ask = askControl(data)
    const acknowledged: string[] = []
    let isLoaded = false
    const url = `http://127.0.0.1:${receiver.port}/`
    await ask('POST', '/v1/webhooks', { url, events: ['order.paid'] })
    const event = { type: 'order.paid', data: { text: 'x'.repeat(500) } }
    const publish = async (): Promise<void> => {
      while (isLoaded) {
        const { data } = await ask('POST', '/v1/events', { events: Array(BATCH).fill(event) })
        acknowledged.push(...(data as readonly { readonly id: string }[]).map(({ id }) => id))
      }
    }
    /** Works while all publishers publish: what follows a backup needs no load, which would only grow it. */
    const underLoad = async <T>(work: () => Promise<T>): Promise<T> => {
      isLoaded = true
      const publishing = Promise.all(Array.from({ length: PUBLISHERS }, publish))
      publishing.catch(() => undefined)
      try {
        return await work()
      } finally {
        isLoaded = false
        await publishing
      }
    }
    try {
      for (let round = 0; round < BACKUPS; round++) {
        const { backup, before, during } = await underLoad(async () => {
          const published = acknowledged.length
          await until('events are accepted', () => acknowledged.length > published)
          const before = [...acknowledged]
          const backup = await createBackup(data, join(place, 'backups'))
          return { backup, before, during: acknowledged.length - before.length }
        })
        const verified = await runKeyhook(data, ['backup', 'verify', backup])
        t.equal(verified.code, 0, verified.err)
        const to = join(place, `restored-${round}`)
        const restored = await runKeyhook(data, ['backup', 'restore', backup, '--to', to])
        t.equal(restored.code, 0, restored.err)
        const held = await eventsIn(join(to, 'keyhook.db'))
        const lost = before.filter((id) => !held.has(id))
        t.same(lost, [], `backup ${round}: ${before.length} before it, ${during} during it`)
        t.ok(during > 0, 'the daemon accepted events meanwhile')
        for (const made of [to, backup]) rmSync(made, { recursive: true })
      }
    } finally {
      await daemon.end('SIGTERM')
      await receiver.close()
    }
  },
)
