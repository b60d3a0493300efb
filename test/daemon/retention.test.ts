import { join } from 'node:path'
import t from 'tap'
import type { Retention } from '../../daemon/worker/retention.ts'
import { purgeExpired } from '../../daemon/worker/retention.ts'
import { uuid7Of } from '../../lib/internal/uuid7.ts'
import type { Instant } from '../../lib/time.ts'
import { DAY, HOUR } from '../../lib/time.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import {
  FEED,
  ACCOUNT,
  BORN,
  idsOf,
  outcomeOf,
  sampleAccount,
  sampleClaim,
  sampleDelivery,
  sampleEvent,
  sampleUser,
} from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from '../platform/app-samples.ts'
import {
  sampleCheck,
  sampleLine,
  sampleTold,
  sampleUsage,
} from '../platform/observation-samples.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'

const MONTH: Retention = { events: 30 * DAY, audit: 365 * DAY, access: 7 * DAY }

const STORES: Readonly<Record<string, (folder: string) => Promise<PlatformStore>>> = {
  SQLite: async (folder) => (await openPlatformStore(join(folder, 'keyhook.sqlite'))).store,
}

/** Publishes an event with a delivery of it, both made at an instant. */
async function publishAt(
  store: PlatformStore,
  ...instants: readonly Instant[]
): Promise<readonly string[]> {
  const group = instants.map((at, index) => {
    const mark = new Uint8Array(8)
    new DataView(mark.buffer).setUint32(4, index)
    const id = uuid7Of(at, mark)
    const event = sampleEvent(`evt_${id}`, { created_at: at })
    return { event, deliveries: [sampleDelivery(id, { created_at: at, next_at: at })] }
  })
  await store.publish(() => group)
  return group.map(({ event }) => event.id)
}

async function attempt(store: PlatformStore, now: Instant, limit = 10): Promise<void> {
  const claimed = await store.claim(sampleClaim(now, { queues: [{ webhook_id: 'wh_1', limit }] }))
  const attempts = claimed.map(({ delivery }) => outcomeOf(delivery, now))
  await store.settle(attempts)
}

async function note(store: PlatformStore, id: string, at: Instant): Promise<void> {
  await store.write((tx) =>
    tx.requests.insertAudit({
      id,
      account_id: ACCOUNT,
      at,
      actor_type: 'operator',
      actor_id: null,
      action: 'key.created',
      target_type: 'key',
      target_id: 'key_1',
      app_id: null,
      request_id: 'req_1',
      ip: null,
      protocol: null,
      client: null,
      origins: null,
    }),
  )
}

async function openSession(store: PlatformStore, hash: string, expires_at: Instant): Promise<void> {
  const since = { created_at: BORN, seen_at: BORN, authenticated_at: BORN }
  await store.write((tx) =>
    tx.accounts.insertSession({ ...since, hash, user_id: 'usr_1', expires_at }),
  )
}

/** The store with every call of `purge` noted. */
type Kind = Parameters<PlatformStore['purge']>[0]

function watch(store: PlatformStore): {
  purged: [kind: Kind, rows: number][]
  store: Pick<PlatformStore, 'purge'>
} {
  const purged: [Kind, number][] = []
  return {
    purged,
    store: {
      async purge(kind, before, limit) {
        const rows = await store.purge(kind, before, limit)
        purged.push([kind, rows])
        return rows
      },
    },
  }
}

const eventsOf = async (store: PlatformStore): Promise<readonly string[]> => {
  const page = await store.events.list({ ...FEED, account_id: ACCOUNT, limit: 5000 })
  return page.rows.map(({ id }) => id)
}

for (const [name, open] of Object.entries(STORES)) {
  await t.test(`retention on ${name}`, async (t) => {
    const openStore = async (t: { testdir(): string; teardown(end: () => unknown): void }) => {
      const store = await open(t.testdir())
      t.teardown(() => store.close())
      return store
    }

    await t.test(
      'deletes what is older than it is kept, and not what is just as old',
      async (t) => {
        const store = await openStore(t)
        const now = BORN + 400 * DAY
        const cut = now - 30 * DAY
        const ids = await publishAt(store, cut - DAY, cut - 1, cut, cut + 1)
        await attempt(store, now)
        await note(store, 'a', now - 365 * DAY - 1)
        await note(store, 'b', now - 365 * DAY)
        await store.write(async (tx) => {
          await tx.accounts.insert(sampleAccount())
          await tx.accounts.insertUser(sampleUser())
        })
        await openSession(store, 'over', now - 1)
        await openSession(store, 'open', now)

        t.same(await purgeExpired(store, MONTH, now), {
          attempts: 2,
          deliveries: 2,
          events: 2,
          sessions: 1,
          audit: 1,
        })
        t.same(await eventsOf(store), ids.slice(2))
        t.same(await purgeExpired(store, MONTH, now), {}, 'there is nothing left to do')
        t.same(await purgeExpired(store, MONTH, now + 1), {
          attempts: 1,
          deliveries: 1,
          events: 1,
          sessions: 1,
          audit: 1,
        })
      },
    )

    await t.test('keeps for ever what is to be kept for ever', async (t) => {
      const store = await openStore(t)
      const ids = await publishAt(store, BORN)
      await note(store, 'a', BORN)
      const now = BORN + 36_500 * DAY
      const forever = { ...MONTH, events: null, audit: null }
      t.same(await purgeExpired(store, forever, now), {})
      t.same(await eventsOf(store), ids)
      t.same(await purgeExpired(store, { ...forever, audit: DAY }, now), { audit: 1 })
      t.same(await eventsOf(store), ids)
    })

    await t.test('what was observed of apps goes by ages of its own', async (t) => {
      const store = await openStore(t)
      const now = BORN + 40 * DAY
      await store.write(async (tx) => {
        await tx.apps.insert(sampleApp('app_1'))
        for (const ago of [8 * DAY, 6 * DAY]) {
          const after = now - BORN - ago
          await tx.observations.addLines([sampleLine(after)])
          await tx.observations.addChecks([sampleCheck(after)])
        }
        const seen = [31 * DAY, 29 * DAY].map((ago) => sampleTold(`${ago}`, now - BORN - ago))
        await tx.observations.recordErrors(seen)
        await tx.observations.addUsage([sampleUsage(1)], BORN)
        await tx.observations.beginBatch('gone', 1, now - 31 * DAY)
      })
      const once = { access_lines: 1, checks: 1, problems: 1, observers: 1 }
      t.same(await purgeExpired(store, MONTH, now), once)
      t.same(await purgeExpired(store, { ...MONTH, access: 5 * DAY }, now), { access_lines: 1 })
      t.equal((await store.observations.usage('app_1', '2000-01-01', '2100-01-01')).length, 1)
    })

    await t.test(
      'goes in chunks: attempts before deliveries, deliveries before events',
      async (t) => {
        const store = await openStore(t)
        await publishAt(store, ...Array.from({ length: 1201 }, (_, index) => BORN + index))
        await attempt(store, BORN + DAY, 3)
        const watched = watch(store)
        const purged = await purgeExpired(watched.store, MONTH, BORN + 40 * DAY)
        t.same(purged, { attempts: 3, deliveries: 1201, events: 1201 })
        const chunks = (kind: Kind) => [500, 500, 201].map((rows) => [kind, rows])
        t.same(watched.purged.slice(0, 7), [
          ['attempts', 3],
          ...chunks('deliveries'),
          ...chunks('events'),
        ])
      },
    )

    await t.test('stops after the chunk under way, and the next hour goes on', async (t) => {
      const store = await openStore(t)
      await publishAt(store, ...Array.from({ length: 600 }, (_, index) => BORN + index))
      const now = BORN + 40 * DAY
      const watched = watch(store)
      const isStopping = (): boolean => watched.purged.length >= 2
      t.same(await purgeExpired(watched.store, MONTH, now, isStopping), { deliveries: 500 })
      t.same(watched.purged, [
        ['attempts', 0],
        ['deliveries', 500],
      ])
      t.equal((await eventsOf(store)).length, 600)
      t.same(await purgeExpired(store, MONTH, now, () => true), {}, 'nothing begins while it stops')
      t.same(await purgeExpired(store, MONTH, now), { deliveries: 100, events: 600 })
    })

    await t.test('leaves nothing that is due of what it deleted', async (t) => {
      const store = await openStore(t)
      const now = BORN + 40 * DAY
      await publishAt(store, BORN)
      await purgeExpired(store, MONTH, now)
      t.same(await store.claim(sampleClaim(now)), [])
      t.same(await store.queueHeads(), [])
    })

    await t.test('a delivery made after its event never goes out once that is gone', async (t) => {
      const store = await openStore(t)
      const now = BORN + 30 * DAY + HOUR / 2
      const late = uuid7Of(BORN + HOUR - 1, new Uint8Array(8))
      const born = sampleDelivery(late, { created_at: BORN + HOUR - 1 })
      const event = sampleEvent(born.event_id, { created_at: BORN })
      await store.publish(() => [{ event, deliveries: [born] }])
      t.same(await purgeExpired(store, MONTH, now), { events: 1 })
      t.same(idsOf(await store.claim(sampleClaim(now))), [])
      t.same(await purgeExpired(store, MONTH, now + HOUR), { deliveries: 1 })
      t.same(await store.queueHeads(), [])
    })
  })
}
