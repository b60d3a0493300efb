/**
 * `node dist/test/crash/disk-full.js`: fills the disk below a daemon on SQLite, frees some of it, and
 * holds what it acknowledged against what it kept and sent. Linux, where `unshare -Urm` is allowed.
 */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createApi } from './api.ts'
import { standBy } from './daemon.ts'
import { openCrashDatabase } from './database.ts'
import { createWire } from './wire.ts'

/** Of util-linux. */
const NAMESPACES = 'unshare'
const SIZE = '8m'
const BALLAST = 2 * 1_048_576
const MOST = 20_000
const REFUSALS = 50
const WITHIN = 60_000
const OPERATOR = 'the-operator-of-a-daemon-on-a-full-disk'

const [place] = process.argv.slice(2)
if (place === undefined) mountAndRun()
else await run(place)

/** Once more, in a namespace of its own where the folder is a small disk. */
function mountAndRun(): void {
  const folder = mkdtempSync(join(tmpdir(), 'keyhook-full-'))
  const script = `mount -t tmpfs -o size=${SIZE} none "$2" && exec "$0" "$1" "$2"`
  const flags = ['-Urm', 'sh', '-c', script, process.execPath, fileURLToPath(import.meta.url)]
  const { status } = spawnSync(NAMESPACES, [...flags, folder], { stdio: 'inherit' })
  rmSync(folder, { recursive: true, force: true })
  process.exitCode = status ?? 1
}

async function run(folder: string): Promise<void> {
  const arrived = new Map<string, number>()
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { mark: string } }
      arrived.set(data.mark, (arrived.get(data.mark) ?? 0) + 1)
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in`

  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  const ballast = join(folder, 'ballast')
  writeFileSync(ballast, Buffer.alloc(BALLAST))
  const daemon = standBy(
    {
      KEYHOOK_DATA_DIR: join(folder, 'data'),
      KEYHOOK_PORT: '0',
      KEYHOOK_OWNER_EMAIL: 'owner@example.com',
      KEYHOOK_OWNER_PASSWORD: 'a long password',
      KEYHOOK_OPERATOR_TOKEN: OPERATOR,
      KEYHOOK_WEBHOOK_ALLOW: '127.0.0.0/8',
      KEYHOOK_LOG_LEVEL: 'silent',
    },
    '/dev/null',
  ).go({ log: '/dev/null' })
  const origin = await daemon.ready
  const [owner] = await createApi([origin], OPERATOR).list('/v1/accounts')
  const account = String(owner?.['id'])
  const api = createApi([origin], OPERATOR, account)
  const send = createWire()
  await api.ask('PUT', '/v1/event-types/disk.full')
  await api.ask('POST', '/v1/webhooks', { url: target, events: ['disk.full'] })

  const filling = 'x'.repeat(1000)
  const acknowledged: string[] = []
  const refusals = new Map<number, number>()
  async function publish(mark: string): Promise<boolean> {
    const { outcome, status } = await send(origin, {
      method: 'POST',
      path: '/v1/events',
      token: OPERATOR,
      headers: { 'keyhook-account': account },
      body: { id: `evt_${mark}`, type: 'disk.full', data: { mark, filling } },
    })
    if (outcome === 'ok') acknowledged.push(mark)
    else refusals.set(status, (refusals.get(status) ?? 0) + 1)
    return outcome === 'ok'
  }

  let refused = 0
  for (let number = 0; refused < REFUSALS && number < MOST; number++) {
    if (!(await publish(`full${number}`))) refused++
  }
  const whenFull = acknowledged.length
  const readable = (await api.ask('GET', '/v1/events?limit=1'))['data'] as readonly unknown[]
  rmSync(ballast)
  const freed = Date.now()
  let tries = 0
  while (!(await publish(`freed${tries}`)) && Date.now() - freed < WITHIN) {
    tries++
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const recovered = Date.now() - freed
  while (acknowledged.some((mark) => !arrived.has(mark)) && Date.now() - freed < WITHIN) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const kept = new Set(
    (await api.list('/v1/events')).map((event) => (event['data'] as { mark?: string }).mark),
  )
  daemon.kill('SIGKILL')
  await daemon.ended
  receiver.close()
  const database = await openCrashDatabase('sqlite', folder)
  const result = {
    acknowledged_before_full: whenFull,
    refusals: Object.fromEntries(refusals),
    readable_when_full: readable.length === 1,
    accepts_again_after_ms: recovered,
    lost: acknowledged.filter((mark) => !kept.has(mark)).length,
    not_delivered: acknowledged.filter((mark) => !arrived.has(mark)).length,
    delivered_twice: [...arrived.values()].filter((times) => times > 1).length,
    sent_unacknowledged: [...arrived.keys()].filter((mark) => !acknowledged.includes(mark)).length,
    faults: await database.faults(),
  }
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  const { lost, not_delivered, delivered_twice, readable_when_full, faults } = result
  const isSound = lost + not_delivered + delivered_twice + faults.length === 0
  const isHonest = readable_when_full && [...refusals.keys()].every((status) => status >= 503)
  process.exitCode = isSound && isHonest && refused > 0 && recovered < WITHIN ? 0 : 1
}
