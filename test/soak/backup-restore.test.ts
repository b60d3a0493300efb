import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { newBackupId } from '../../daemon/backup/create.ts'
import { restoreBackup } from '../../daemon/backup/restore.ts'
import { verifyBackup } from '../../daemon/backup/verify.ts'
import { createBackup, runKeyhook } from '../support/backups.ts'
import { askControl } from '../support/control.ts'
import type { DaemonProcess } from '../support/daemon.ts'
import { startDaemonProcess, until } from '../support/daemon.ts'
import type { Receiver } from '../support/receiver.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'

const OWNER = {
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: 'a password of this test',
  KEYHOOK_EVENT_TYPES: 'order.paid',
}
const PASSPHRASE = 'correct horse battery staple'

const serve = (folder: string): Promise<DaemonProcess> =>
  startDaemonProcess({ ...OWNER, KEYHOOK_DATA_DIR: folder })

const REFUSES = answerWith('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n')

interface Stage {
  readonly place: string
  readonly data: string
  readonly backup: string
  /** Revoked after the backup was made. */
  readonly revoked: string
  readonly receiver: Receiver
}

/** A backup with an app, a key, and a delivery that waits, and a key that was revoked since. */
async function stage(place: string): Promise<Stage> {
  const data = join(place, 'data')
  // A failure is tried again after the last test.
  const receiver = await startReceiver(REFUSES)
  const daemon = await startDaemonProcess({
    ...OWNER,
    KEYHOOK_DATA_DIR: data,
    KEYHOOK_WEBHOOK_RETRY_SCHEDULE: '1,600',
  })
  const ask = askControl(data)
  const url = `http://127.0.0.1:${receiver.port}/`
  await ask('POST', '/v1/webhooks', { url, events: ['order.paid'] })
  await ask('POST', '/v1/apps', { name: 'Shop', template_id: 'landing' })
  const { id: revoked } = await ask('POST', '/v1/keys', { name: 'later', scopes: ['apps:read'] })
  await ask('POST', '/v1/keys', { name: 'kept', scopes: ['apps:read'] })
  await ask('POST', '/v1/events', { type: 'order.paid', data: {} })
  await until('an attempt failed', () => receiver.requests.length > 0)
  const args = ['--master-key', '--passphrase-stdin']
  const backup = await createBackup(data, join(place, 'backups'), args, `${PASSPHRASE}\n`)
  await ask('DELETE', `/v1/keys/${String(revoked)}`)
  await daemon.end('SIGTERM')
  return { place, data, backup, revoked: String(revoked), receiver }
}

const staged = await stage(t.testdir())
t.teardown(() => staged.receiver.close())

interface Report {
  readonly sending: string
  readonly waiting: { readonly deliveries: number }
  readonly keys: {
    readonly valid: number
    readonly revoked: number
    readonly valid_again: readonly { readonly id: string }[] | null
  }
}

async function restore(to: string, ...args: readonly string[]): Promise<Report> {
  const line = ['backup', 'restore', staged.backup, '--to', to, '--passphrase-stdin', '--json']
  const ran = await runKeyhook(staged.data, [...line, ...args], { input: PASSPHRASE })
  if (ran.code !== 0) throw new Error(ran.err)
  return JSON.parse(ran.out) as Report
}

await t.test('a restored daemon holds deliveries back until it is told to send them', async (t) => {
  const to = join(staged.place, 'paused')
  const report = await restore(to, '--compare', staged.data)
  t.match(report, { sending: 'paused', waiting: { deliveries: 1 }, keys: { valid: 2, revoked: 0 } })
  t.same(
    report.keys.valid_again?.map(({ id }) => id),
    [staged.revoked],
    'the key that was revoked since is named',
  )
  const before = staged.receiver.requests.length
  const daemon = await serve(to)
  t.teardown(() => daemon.end('SIGTERM'))
  const ask = askControl(to)
  t.match(await ask('GET', '/readyz'), { status: 'ok', sending: 'paused' })
  t.match(await ask('GET', '/v1/sending'), { status: 'paused', waiting_webhooks: 1 })
  const doctor = await runKeyhook(to, ['doctor'])
  t.match(doctor, { code: 0, out: /sending +paused/ })
  const published = await ask('POST', '/v1/events', { type: 'order.paid', data: {} })
  const explained = await ask('GET', `/v1/events/${String(published['id'])}/explain`)
  t.match(explained, { data: [{ outcome: 'waiting', reasons: [{ code: 'sending_paused' }] }] })
  // Longer than the first retry takes, and than a daemon looks for the end of the pause.
  await pause(2500)
  t.equal(staged.receiver.requests.length, before, 'nothing was sent')
  const resumed = await runKeyhook(to, ['sending', 'resume'])
  t.equal(resumed.code, 0, resumed.err)
  await until('it is sent', () => staged.receiver.requests.length > before)
  t.notMatch(await ask('GET', '/readyz'), { sending: 'paused' })
  t.equal(await daemon.end('SIGTERM'), 0)
  const again = await serve(to)
  t.match(await ask('GET', '/v1/sending'), { status: 'active' }, 'it stays resumed')
  await again.end('SIGTERM')
})

await t.test('a restore may revoke every key, and send at once', async (t) => {
  const to = join(staged.place, 'revoked')
  const report = await restore(to, '--revoke-all', '--resume')
  t.match(report, { sending: 'resumed', keys: { valid: 0, revoked: 2, valid_again: null } })
  const daemon = await serve(to)
  const ask = askControl(to)
  t.match(await ask('GET', '/v1/keys'), { data: [] }, 'no key is live')
  t.match(await ask('GET', '/v1/sending'), { status: 'active' })
  await daemon.end('SIGTERM')
})

await t.test('a drill proves the copy and leaves nothing behind', async (t) => {
  const within = join(staged.place, 'drills')
  mkdirSync(within)
  const line = ['backup', 'drill', staged.backup, '--within', within, '--json']
  const ran = await runKeyhook(staged.data, [...line, '--passphrase-stdin'], { input: PASSPHRASE })
  t.equal(ran.code, 0, ran.err)
  t.match(JSON.parse(ran.out), { counts: { keys: 2, apps: 1 }, secrets_proved: true, migrated: [] })
  t.same(readdirSync(within), [])
  const other = ['--passphrase-stdin']
  const wrong = await runKeyhook(staged.data, [...line, ...other], { input: 'another passphrase' })
  t.match(wrong, { code: 1, err: /passphrase is not that of this backup/ })
  t.same(readdirSync(within), [])
})

await t.test('a backup is listed, and one that is in the making is not', async (t) => {
  const backups = join(staged.place, 'backups')
  mkdirSync(join(backups, '.unfinished-keyhook-20260101T000000Z-00000000'))
  const ran = await runKeyhook(staged.data, ['backup', 'list', backups, '--json'])
  const { data } = JSON.parse(ran.out) as { data: readonly { folder: string }[] }
  t.same(
    data.map(({ folder }) => folder),
    [staged.backup],
  )
})

await t.test('the last name is that of the latest backup, also within a second', (t) => {
  const from = Date.parse('2026-01-31T12:00:00.000Z')
  const ids = Array.from({ length: 20 }, (_, at) => newBackupId(new Date(from + at)))
  t.same(ids, ids.toSorted())
  t.end()
})

/** The largest blob of a backup. */
function blobIn(backup: string): string {
  const blobs = readdirSync(join(backup, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const [largest = ''] = blobs.sort((a, b) => statSync(b).size - statSync(a).size)
  return largest
}

function flipByte(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

const DAMAGES: Readonly<Record<string, (backup: string) => void>> = {
  'a byte of the database was changed': (backup) => {
    flipByte(join(backup, 'keyhook.db'), 5000)
  },
  'the database was truncated': (backup) => {
    truncateSync(join(backup, 'keyhook.db'), 8192)
  },
  'the database is missing': (backup) => {
    rmSync(join(backup, 'keyhook.db'))
  },
  'the database is that of another time': (backup) => {
    cpSync(join(staged.place, 'paused', 'keyhook.db'), join(backup, 'keyhook.db'))
  },
  'a blob was changed': (backup) => {
    flipByte(blobIn(backup), 3)
  },
  'a blob was truncated': (backup) => {
    truncateSync(blobIn(backup), 1)
  },
  'a blob is missing': (backup) => {
    rmSync(blobIn(backup))
  },
  'two blobs were swapped': (backup) => {
    const [one = '', two = ''] = readdirSync(join(backup, 'blobs'), {
      recursive: true,
      withFileTypes: true,
    })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
    renameSync(one, `${backup}.one`)
    renameSync(two, one)
    renameSync(`${backup}.one`, two)
  },
  'the encrypted key was changed': (backup) => {
    flipByte(join(backup, 'master-key.encrypted'), 60)
  },
  'the manifest was changed': (backup) => {
    flipByte(join(backup, 'manifest.json'), 100)
  },
  'the manifest was truncated': (backup) => {
    truncateSync(join(backup, 'manifest.json'), 100)
  },
  'the digest of the manifest is missing': (backup) => {
    rmSync(join(backup, 'manifest.json.sha256'))
  },
  'something was added': (backup) => {
    appendFileSync(join(backup, 'keyhook.db-wal'), 'x')
  },
}

for (const [what, damage] of Object.entries(DAMAGES)) {
  await t.test(`a backup is refused when ${what}`, async (t) => {
    const copies = join(staged.place, 'damaged')
    rmSync(copies, { recursive: true, force: true })
    const copy = join(copies, staged.backup.split('/').at(-1) ?? '')
    cpSync(staged.backup, copy, { recursive: true })
    const quiet = { passphrase: undefined, progress: () => undefined }
    await t.resolves(verifyBackup(copy, quiet), 'undamaged it verifies')
    damage(copy)
    const refusal = /damaged|not a finished backup/
    await t.rejects(verifyBackup(copy, quiet), refusal)
    const to = join(copies, 'to')
    const options = {
      ...quiet,
      to,
      revokeAll: false,
      resume: false,
      compare: undefined,
      target: () => undefined,
      programs: undefined,
    }
    await t.rejects(restoreBackup(copy, options), refusal)
    t.throws(() => statSync(to), 'nothing was created')
  })
}

await t.test('a backup under the name of another one is refused', async (t) => {
  const renamed = join(staged.place, 'keyhook-20260101T000000Z-00000000')
  cpSync(staged.backup, renamed, { recursive: true })
  const ran = await runKeyhook(staged.data, ['backup', 'verify', renamed])
  t.match(ran, { code: 1, err: /give it that name again/ })
})

await t.test('a restore needs an empty folder', async (t) => {
  const line = ['backup', 'restore', staged.backup, '--to']
  const ran = await runKeyhook(staged.data, [...line, staged.data])
  t.match(ran, { code: 1, err: /is not empty: it holds/ })
  const misuse = await runKeyhook(staged.data, ['backup', 'restore', staged.backup])
  t.match(misuse, { code: 2, err: /--to/ })
})

await t.test('a passphrase and the master key go together', async (t) => {
  const line = ['backup', 'create', '--to', join(staged.place, 'others')]
  t.match(await runKeyhook(staged.data, [...line, '--master-key']), { code: 1, err: /passphrase/ })
  const alone = [...line, '--passphrase-stdin']
  const input = PASSPHRASE
  t.match(await runKeyhook(staged.data, alone, { input }), { code: 1, err: /--master-key/ })
  const short = await runKeyhook(staged.data, [...alone, '--master-key'], { input: 'short' })
  t.match(short, { code: 1, err: /at least 12 characters/ })
})

const REMAINS: Readonly<Record<string, readonly string[]>> = {
  'a master key': ['master-key'],
  'an id': ['keyhook.id'],
  'the files of apps': ['apps'],
  'all of them, and a database copied without its log': ['master-key', 'keyhook.id', 'apps', 'db'],
}

for (const [what, names] of Object.entries(REMAINS)) {
  await t.test(`a daemon refuses an empty database beside ${what}`, async (t) => {
    const folder = t.testdir()
    for (const name of names) {
      if (name === 'db') writeFileSync(join(folder, 'keyhook.db'), '')
      else cpSync(join(staged.data, name), join(folder, name), { recursive: true })
    }
    await t.rejects(serve(folder), /the database is empty, but .* Restore a backup/)
    t.match(await runKeyhook(folder, ['doctor'], { env: OWNER }), { code: 1 })
  })
}

await t.test('a daemon refuses the database of another installation', async (t) => {
  const folder = t.testdir()
  const other = await serve(folder)
  await other.end('SIGTERM')
  cpSync(join(staged.data, 'keyhook.id'), join(folder, 'keyhook.id'))
  await t.rejects(serve(folder), /belongs to/)
})
