import { APP_DIRECTORIES } from '../../../daemon/authority/app-directory.ts'
import { PAGE_BYTES } from '../../../daemon/limits/amounts.ts'
import { settingsFamily } from '../../../daemon/families/settings/family.ts'
import { webhooksFamily } from '../../../daemon/families/webhooks/family.ts'
import {
  outcomeOf as endOf,
  publishDeliveries,
  sampleDelivery,
} from '../../../plugins/store/conformance/samples.ts'
import { MOST_ATTEMPTS } from '../../../plugins/store/contract/deliveries.ts'
import { sampleApp } from '../../platform/app-samples.ts'
import { countRowBytes } from '../../support/row-bytes.ts'
import type { Page } from '../../support/webhooks.ts'
import type { Answer, AnyBody, World } from '../../support/world.ts'
import type { Checks } from '../run.ts'
import { openWorld, outcomeOf, publishLarge } from './world.ts'

const KIB = 1024
const APPS = 100
const SERVICES = 50
const WEBHOOKS = 50
const SECRETS = 50
/** Keys and what else a request reads beside the records. */
const BESIDE = 64 * KIB

/** Names with texts of three bytes a character. */
const texts = (count: number, length: number): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`name_${n}`, '€'.repeat(length)]))

async function openWide(t: Parameters<typeof openWorld>[0]) {
  const world = await openWorld(t, {}, [webhooksFamily, settingsFamily])
  const { key } = await world.mintKey({ scopes: ['*:*'] })
  const ask = async <Body = AnyBody>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer<Body>> => world.request<Body>(method, path, { as: key, body })
  /** The same, where it must succeed. */
  const make = async <Body = AnyBody>(...asked: Parameters<typeof ask>): Promise<Body> => {
    const { status, body } = await ask<Body>(...asked)
    if (status >= 300) throw new Error(`${asked[1]}: ${status} ${JSON.stringify(body)}`)
    return body
  }
  return { ...world, ask, make }
}

type Wide = Awaited<ReturnType<typeof openWide>>

/** Follows a list to its end; answers the values of `name` in its records, and what a page read at most. */
async function follow(
  { ask }: Wide,
  path: string,
  name: string,
  { read, saw }: { read: ReturnType<typeof countRowBytes>; saw: (outcome: string) => void },
): Promise<{ readonly seen: readonly string[]; readonly most: number }> {
  const seen: string[] = []
  let most = 0
  let query = '?limit=100'
  for (let pages = 0; query !== '' && pages < 100; pages += 1) {
    const bytes = await read(async () => {
      const { status, body } = await ask<Page<AnyBody>>('GET', path + query)
      saw(String(status))
      seen.push(...body.data.map((one) => String(one[name])))
      query = body.has_more ? `?limit=100&cursor=${body.next_cursor}` : ''
    })
    most = Math.max(most, bytes)
  }
  return { seen, most }
}

async function insertWideApps({ platform, account }: World): Promise<readonly string[]> {
  const ids = Array.from({ length: APPS }, (_, n) => `app_${100 + n}`)
  const metadata = texts(50, 500)
  await platform.store.write(async (tx) => {
    for (const id of ids) await tx.apps.insert(sampleApp(id, { account_id: account.id, metadata }))
  })
  return ids
}

export const RECORD_CHECKS: Checks = {
  async R24(t, saw) {
    const world = await openWide(t)
    const ids = await insertWideApps(world)
    const { seen, most } = await follow(world, '/v1/apps', 'id', { read: countRowBytes(t), saw })
    t.same([...seen].sort(), ids)
    t.ok(most <= PAGE_BYTES + 80 * KIB + BESIDE, `${most} bytes were read`)
  },

  async R25(t, saw) {
    const world = await openWide(t)
    const apps = await insertWideApps(world)
    Object.assign(world.platform, { appDirectory: APP_DIRECTORIES.own })
    const read = countRowBytes(t)
    const body = { name: 'a key', scopes: ['apps:read'], apps }
    const bytes = await read(async () => {
      saw(outcomeOf(await world.ask('POST', '/v1/keys', body)))
    })
    t.ok(bytes <= BESIDE, `${bytes} bytes were read`)
    const missing = await world.ask('POST', '/v1/keys', {
      ...body,
      apps: ['app_9', ...apps.slice(1)],
    })
    t.match(missing.body, { error: { code: 'app_not_found', details: { apps: ['app_9'] } } })
  },

  async R26(t, saw) {
    const world = await openWide(t)
    const { id } = await world.make('POST', '/v1/apps', { template_id: 'blank' })
    const path = `/v1/apps/${String(id)}/settings/services`
    const names = Array.from({ length: SERVICES }, (_, n) => `service-${100 + n}`)
    for (const name of names) {
      const secrets = texts(SECRETS, 1)
      await world.make('PUT', `${path}/${name}`, {
        kind: 'custom',
        config: texts(50, 1000),
        secrets,
      })
    }
    const read = countRowBytes(t)
    const { seen, most } = await follow(world, path, 'name', { read, saw })
    t.same(seen, names)
    const largest = 160 * KIB
    t.ok(most <= PAGE_BYTES + largest + BESIDE, `${most} bytes were read`)
    const one = await read(() => world.make('GET', `${path}/${names[0]}`))
    t.ok(one <= largest + BESIDE, `${one} bytes were read of one`)
  },

  async R27(t, saw) {
    const world = await openWide(t)
    // Each character takes two bytes before they are sealed.
    const headers = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`X-Wide-${n}`, 'é'.repeat(1000)]),
    )
    const events = Array.from({ length: 100 }, (_, n) => `${'x'.repeat(90)}${n}.*`)
    const ids: string[] = []
    for (let n = 0; n < WEBHOOKS; n += 1) {
      const body = { url: `http://127.0.0.1:9/${n}`, events, headers }
      const { id } = await world.make('POST', '/v1/webhooks', body)
      ids.push(String(id))
      for (let more = 1; more < 5; more += 1) {
        await world.make('POST', `/v1/webhooks/${String(id)}/rotate-secret`)
      }
    }
    const read = countRowBytes(t)
    const { seen, most } = await follow(world, '/v1/webhooks', 'id', { read, saw })
    t.same(seen, ids.toReversed())
    const largest = 80 * KIB
    t.ok(most <= PAGE_BYTES + largest + BESIDE, `${most} bytes were read`)
    const { id } = await world.make('GET', '/v1/keys/self')
    const all = await read(() => world.make('GET', `/v1/keys/${String(id)}`))
    t.ok(all > WEBHOOKS * 50 * KIB, 'all of them are read')
    t.ok(all <= WEBHOOKS * largest + BESIDE, `${all} bytes were read`)
  },

  async R28(t, saw) {
    const world = await openWide(t)
    const ids = await publishLarge(world, world.key, 40)
    const read = countRowBytes(t)
    const events = ids.map((id) => ({ type: 'order.paid', data: {}, id }))
    const bytes = await read(async () => {
      const { status, body } = await world.ask<Page<AnyBody>>('POST', '/v1/events', { events })
      saw(String(status))
      for (const one of body.data) {
        const { error } = one as { error?: { status: number; code: string } }
        saw(`${error?.status} ${error?.code}`)
      }
      t.equal(body.data.length, ids.length)
    })
    t.ok(bytes <= BESIDE, `${bytes} bytes were read`)
  },

  async R29(t, saw) {
    const world = await openWide(t)
    const { account, platform, make } = world
    const { store, clock } = platform
    await make('PUT', '/v1/event-types/order.paid')
    const url = 'http://127.0.0.1:9/'
    const { id } = await make('POST', '/v1/webhooks', { url, events: ['order.paid'] })
    const webhook_id = String(id)
    // As it stands after its last attempts.
    const deliveries = [MOST_ATTEMPTS - 1, MOST_ATTEMPTS].map((attempts) => ({
      attempts,
      delivery: sampleDelivery(platform.newId(), { account_id: account.id, webhook_id }),
    }))
    await publishDeliveries(store, ...deliveries.map(({ delivery }) => delivery))
    const now = clock.now()
    const claimed = await store.claim(() => ({
      queues: [{ webhook_id, limit: 10 }],
      now,
      lease_until: now + 60_000,
      renews: false,
      token: 'a claim of the test',
    }))
    await store.settle(
      deliveries.flatMap(({ attempts, delivery: { id } }) => {
        const one = claimed.find(({ delivery }) => delivery.id === id)?.delivery
        const after = { status: 'exhausted', attempts } as const
        return one === undefined ? [] : [endOf(one, now, after)]
      }),
    )
    const retry = (id: string | undefined) =>
      world.ask('POST', `/v1/webhooks/${webhook_id}/deliveries/${id}/retry`)
    const [last, full] = deliveries.map(({ delivery }) => delivery.id)
    t.equal((await retry(last)).status, 202)
    saw(outcomeOf(await retry(full)))
  },
}
