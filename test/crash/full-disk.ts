/** A daemon on SQLite whose disk fills and is freed again, held against what it acknowledged. */
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createApi } from './api.ts'
import { standBy } from './daemon.ts'
import { openCrashDatabase } from './database.ts'
import { createWire } from './wire.ts'

/** What came of it. */
export interface FullDisk {
  readonly acknowledged_before_full: number
  /** Events in all. */
  readonly acknowledged: number
  /** How often each status refused one. */
  readonly refusals: Readonly<Record<string, number>>
  readonly readable_when_full: boolean
  /** From when some of it was freed; null: not within a minute. */
  readonly accepts_again_after_ms: number | null
  readonly lost: number
  readonly not_delivered: number
  readonly delivered_twice: number
  readonly sent_unacknowledged: number
  /** What SQLite's integrity_check finds. */
  readonly faults: readonly string[]
}

const BALLAST = 2 * 1_048_576
const MOST = 20_000
const REFUSALS = 50
const WITHIN = 60_000
const OPERATOR = 'the-operator-of-a-daemon-on-a-full-disk'

/** @param folder a small disk of its own */
export async function fillDisk(folder: string): Promise<FullDisk> {
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
  return {
    acknowledged_before_full: whenFull,
    acknowledged: acknowledged.length,
    refusals: Object.fromEntries(refusals),
    readable_when_full: readable.length === 1,
    accepts_again_after_ms: recovered < WITHIN ? recovered : null,
    lost: acknowledged.filter((mark) => !kept.has(mark)).length,
    not_delivered: acknowledged.filter((mark) => !arrived.has(mark)).length,
    delivered_twice: [...arrived.values()].filter((times) => times > 1).length,
    sent_unacknowledged: [...arrived.keys()].filter((mark) => !acknowledged.includes(mark)).length,
    faults: await database.faults(),
  }
}
