import assert from 'node:assert/strict'
import { createdOrigin, setParts } from '../../../lib/webhook/origin.ts'
import type { Store } from '../contract.ts'
import type { StoreCase } from './harness.ts'
import { assertOneWon, openRacers, readPages } from './harness.ts'
import {
  ACCOUNT,
  BORN,
  STRANGER,
  deliveryOf,
  insertWebhooks,
  outcomeOf,
  publishDeliveries,
  sampleClaim,
  sampleDelivery,
  sampleKey,
  sampleWebhook,
} from './samples.ts'

const FAILED = { consecutive_failures: 7, first_failure_at: BORN, failing_at: BORN + 1 }

const USER = { type: 'user', id: 'usr_2' } as const
const keyBy = (id: string) => ({ type: 'key', id }) as const

const secretOf = (id: string, not_after: number | null) => ({
  id,
  encrypted: `v1.k1.${id}`,
  display: 'whsec_x…',
  created_at: BORN,
  not_after,
})

const ALL = { after: '', limit: 100 }

/** The secrets of the first webhook in their order, each with its end. */
async function endsOf(store: Store): Promise<readonly string[]> {
  const webhook = await store.webhooks.get(ACCOUNT, 'wh_1')
  return (webhook?.secrets ?? []).map(({ id, not_after }) => `${id} ${not_after}`)
}

const recordCases: readonly StoreCase[] = [
  {
    name: 'webhooks: a record comes back as it was inserted, newest secret first',
    async run({ open }) {
      const store = await open()
      const secret = { encrypted: 'v1:k1:…', display: 'whsec_ab', created_at: BORN }
      const full = sampleWebhook('wh_1', {
        ...FAILED,
        description: 'Ünïcode',
        apps: ['app_a'],
        status: 'disabled',
        disabled_reason: 'gone',
        disabled_at: BORN + 2,
        standard_headers: true,
        last_success_at: BORN + 3,
        last_delivery_at: BORN + 4,
        created_by: { type: 'operator', id: null },
        secrets: [
          { ...secret, id: 'sec_2', not_after: null },
          { ...secret, id: 'sec_1', not_after: BORN + 9 },
        ],
      })
      await insertWebhooks(store, full, sampleWebhook('wh_2'))
      assert.deepEqual(await store.webhooks.get(ACCOUNT, 'wh_1'), full)
      assert.deepEqual(await store.webhooks.get(ACCOUNT, 'wh_2'), sampleWebhook('wh_2'))
    },
  },
  {
    name: 'webhooks: a foreign or unknown id finds nothing',
    async run({ open }) {
      const store = await open()
      await insertWebhooks(store, sampleWebhook('wh_1'))
      assert.equal(await store.webhooks.get(STRANGER, 'wh_1'), undefined)
      assert.equal(await store.webhooks.get(ACCOUNT, 'wh_9'), undefined)
      assert.deepEqual(await store.webhooksOf(STRANGER), [])
      assert.deepEqual(await store.webhooksOf(STRANGER), [])
    },
  },
  {
    name: 'webhooks: pages run newest first, by status, and stay whole while webhooks are inserted',
    async run({ open }) {
      const store = await open()
      const status = 'disabled'
      await insertWebhooks(
        store,
        ...['wh_10', 'wh_11', 'wh_12'].map((id) => sampleWebhook(id, { status })),
        sampleWebhook('wh_13'),
        sampleWebhook('wh_14', { account_id: STRANGER, status }),
      )
      let next = 20
      const seen = await readPages(
        (after) =>
          store.webhooks.list({ account_id: ACCOUNT, status, within: null, limit: 2, after }),
        () => insertWebhooks(store, sampleWebhook(`wh_${next++}`, { status })),
      )
      assert.deepEqual(seen, ['wh_12', 'wh_11', 'wh_10'])
    },
  },
  {
    name: 'webhooks: a page ends with the events, apps and headers that reach its bytes',
    async run({ open }) {
      const store = await open()
      const secrets = ['s2', 's1'].map((id) => secretOf(id, id === 's2' ? null : BORN + 5))
      const wide = {
        events: ['x'.repeat(96)],
        headers: { names: ['A'], encrypted: 'x'.repeat(100) },
      }
      await insertWebhooks(
        store,
        sampleWebhook('wh_1', wide),
        sampleWebhook('wh_2', { ...wide, secrets }),
        sampleWebhook('wh_3', wide),
      )
      const page = (bytes: number) =>
        store.webhooks.list({
          account_id: ACCOUNT,
          status: null,
          within: null,
          limit: 9,
          after: null,
          bytes,
        })
      for (const [bytes, count] of [
        [1, 1],
        [201, 1],
        [260, 2],
        [9999, 3],
      ] as const) {
        const { rows, more } = await page(bytes)
        assert.deepEqual([rows.length, more], [count, count < 3], `${bytes} bytes`)
      }
      const { rows } = await page(260)
      assert.deepEqual(rows[1]?.secrets, secrets)
    },
  },
  {
    name: 'webhooks: within leaves out webhooks of another app, and of every app',
    async run({ open }) {
      const store = await open()
      await insertWebhooks(
        store,
        sampleWebhook('wh_1'),
        sampleWebhook('wh_2', { apps: ['app_a'] }),
        sampleWebhook('wh_3', { apps: ['app_a', 'app_b'] }),
      )
      const query = { account_id: ACCOUNT, status: null, limit: 1, after: null }
      const page = await store.webhooks.list({ ...query, within: ['app_a'] })
      assert.deepEqual([page.rows.map(({ id }) => id), page.more], [['wh_2'], false])
    },
  },
  {
    name: 'webhooksOf: every webhook of the account, disabled ones included, as the unit sees them',
    async run({ open }) {
      const store = await open()
      await insertWebhooks(
        store,
        sampleWebhook('wh_1', { status: 'disabled' }),
        sampleWebhook('wh_2', { account_id: STRANGER }),
      )
      const idsOf = (webhooks: readonly { id: string }[]) => webhooks.map(({ id }) => id).sort()
      await store.write(async (tx) => {
        await tx.webhooks.insert(sampleWebhook('wh_3'))
        assert.deepEqual(idsOf(await tx.webhooksOf(ACCOUNT)), ['wh_1', 'wh_3'])
      })
      assert.deepEqual(idsOf(await store.webhooksOf(ACCOUNT)), ['wh_1', 'wh_3'])
      assert.deepEqual(idsOf(await store.webhooksOf(ACCOUNT)), ['wh_1', 'wh_3'])
    },
  },
  {
    name: 'update: changes the named columns of the webhook alone; false for an unknown id',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const webhook = sampleWebhook('wh_1', { ...FAILED, apps: ['app_a'], description: 'old' })
      await insertWebhooks(store, webhook, sampleWebhook('wh_2'))
      const update = (id: string, changes: object) =>
        store.write((tx) => tx.webhooks.update(id, changes, USER, now))
      assert.equal(await update('wh_1', { url: 'https://new.example.com/' }), true)
      const moved = {
        ...webhook,
        ...setParts(webhook, ['url'], USER, now),
        url: 'https://new.example.com/',
        updated_at: now,
      }
      assert.deepEqual(await store.webhooks.get(ACCOUNT, 'wh_1'), moved)
      const changes = {
        events: ['order.shipped'],
        apps: null,
        description: null,
        standard_headers: true,
        trace_headers: true,
      }
      assert.equal(await update('wh_1', changes), true)
      const set = setParts(moved, ['events', 'apps'], USER, now)
      assert.deepEqual(await store.webhooks.get(ACCOUNT, 'wh_1'), { ...moved, ...set, ...changes })
      assert.deepEqual(await store.webhooks.get(ACCOUNT, 'wh_2'), sampleWebhook('wh_2'))
      assert.equal(await update('wh_9', { description: 'x' }), false)
    },
  },
  {
    name: 'update: what is no part of the target leaves who set it last',
    async run({ open, clock }) {
      const store = await open()
      const webhook = sampleWebhook('wh_1')
      await insertWebhooks(store, webhook)
      const changes = { description: 'new', standard_headers: true, rate_limit: 3 }
      await store.write((tx) => tx.webhooks.update('wh_1', changes, USER, clock.now()))
      const updated = { ...webhook, ...changes, updated_at: clock.now() }
      assert.deepEqual(await store.webhooks.get(ACCOUNT, 'wh_1'), updated)
    },
  },
  {
    name: 'fromKey: what the key or a key below it created or set a part of, and no other',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await store.write(async (tx) => {
        await tx.keys.insert(sampleKey('key_1'))
        await tx.keys.insert(sampleKey('key_2', { parent_id: 'key_1', depth: 1 }))
        await tx.keys.insert(sampleKey('key_3', { parent_id: 'key_2', depth: 2, revoked_at: now }))
        await tx.keys.insert(sampleKey('key_4'))
      })
      const owned = { created_by: USER, ...createdOrigin(USER, BORN) }
      const ids = ['wh_1', 'wh_2', 'wh_3', 'wh_4', 'wh_5', 'wh_6']
      await insertWebhooks(
        store,
        ...ids.map((id) => sampleWebhook(id, owned)),
        sampleWebhook('wh_7', { created_by: keyBy('key_3'), ...createdOrigin(USER, BORN) }),
        sampleWebhook('wh_8', { ...owned, account_id: STRANGER }),
      )
      await store.write(async ({ webhooks }) => {
        await webhooks.update('wh_1', { url: 'https://a.example.com/' }, keyBy('key_3'), now)
        await webhooks.update('wh_2', { events: ['order.paid'] }, keyBy('key_2'), now)
        await webhooks.update('wh_3', { apps: ['app_a'] }, keyBy('key_1'), now)
        await webhooks.rotateSecret('wh_4', secretOf('s1', null), now, keyBy('key_3'), now)
        await webhooks.update('wh_5', { url: 'https://b.example.com/' }, keyBy('key_4'), now)
        // An owner who sets another part takes nothing of this one back.
        await webhooks.update('wh_1', { events: ['order.paid'] }, USER, now)
        await webhooks.update('wh_2', { events: ['order.shipped'] }, USER, now)
        await webhooks.update('wh_8', { url: 'https://c.example.com/' }, keyBy('key_1'), now)
      })
      const from = async (id: string) =>
        (await store.webhooks.fromKey(ACCOUNT, id)).map((webhook) => webhook.id)
      assert.deepEqual(await from('key_1'), ['wh_1', 'wh_3', 'wh_4', 'wh_7'])
      assert.deepEqual(await from('key_2'), ['wh_1', 'wh_4', 'wh_7'])
      assert.deepEqual(await from('key_4'), ['wh_5'])
      assert.deepEqual(await from('key_9'), [])
      assert.deepEqual(await store.webhooks.fromKey('acc_9', 'key_1'), [])
      const [found] = await store.webhooks.fromKey(ACCOUNT, 'key_4')
      assert.deepEqual(found, await store.webhooks.get(ACCOUNT, 'wh_5'))
    },
  },
]

const healthCases: readonly StoreCase[] = [
  {
    name: 'disable: skips what is pending, leaves what is being delivered, touches nothing else',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertWebhooks(store, sampleWebhook('wh_1', FAILED), sampleWebhook('wh_2'))
      const delivering = sampleDelivery('d2', { status: 'delivering' })
      const done = sampleDelivery('d3', { status: 'exhausted' })
      const others = sampleDelivery('d4', { webhook_id: 'wh_2' })
      await publishDeliveries(store, sampleDelivery('d1'), delivering, done, others)
      assert.equal(await store.write((tx) => tx.disableWebhook('wh_1', 'manual', now)), true)
      const skipped = sampleDelivery('d1', { status: 'skipped', done_at: now })
      assert.deepEqual(await deliveryOf(store, 'd1'), skipped)
      assert.deepEqual(await deliveryOf(store, 'd2'), delivering)
      assert.deepEqual(await deliveryOf(store, 'd3'), done)
      assert.deepEqual(await deliveryOf(store, 'd4', 'wh_2'), others)
      const webhook = await store.webhooks.get(ACCOUNT, 'wh_1')
      const expected = {
        ...sampleWebhook('wh_1', FAILED),
        status: 'disabled',
        disabled_reason: 'manual',
        disabled_at: now,
        updated_at: now,
      }
      assert.deepEqual(webhook, expected)
    },
  },
  {
    name: 'disable: of two callers one wins, and the first reason stays',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const now = harness.clock.now()
      await insertWebhooks(a, sampleWebhook('wh_1'))
      const won = await Promise.all([
        a.write((tx) => tx.disableWebhook('wh_1', 'failures', now)),
        b.write((tx) => tx.disableWebhook('wh_1', 'gone', now)),
      ])
      assertOneWon(won)
      const webhook = await a.webhooks.get(ACCOUNT, 'wh_1')
      assert.equal(webhook?.disabled_reason, won[0] ? 'failures' : 'gone')
      assert.equal(await a.write((tx) => tx.disableWebhook('wh_9', 'gone', now)), false)
    },
  },
  {
    name: 'enable: makes it active with its counters cleared, also when it is active already',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      const reason = { disabled_reason: 'failures', disabled_at: BORN } as const
      await insertWebhooks(
        store,
        sampleWebhook('wh_1', { ...FAILED, ...reason, status: 'disabled' }),
        sampleWebhook('wh_2', FAILED),
      )
      for (const id of ['wh_1', 'wh_2']) {
        await store.write((tx) => tx.webhooks.enable(id, now))
        const enabled = await store.webhooks.get(ACCOUNT, id)
        assert.deepEqual(enabled, sampleWebhook(id, { updated_at: now }))
      }
    },
  },
  {
    name: 'markFailing: true once in a run of failures; never for a disabled or unknown webhook',
    async run(harness) {
      const [a, b] = await openRacers(harness)
      const now = harness.clock.now()
      await insertWebhooks(
        a,
        sampleWebhook('wh_1', { consecutive_failures: 3, first_failure_at: BORN }),
        sampleWebhook('wh_2', { status: 'disabled' }),
      )
      const won = await Promise.all([
        a.write((tx) => tx.markFailing('wh_1', now)),
        b.write((tx) => tx.markFailing('wh_1', now)),
      ])
      assertOneWon(won)
      assert.equal((await a.webhooks.get(ACCOUNT, 'wh_1'))?.failing_at, now)
      assert.equal(await a.write((tx) => tx.markFailing('wh_2', now)), false)
      assert.equal(await a.write((tx) => tx.markFailing('wh_9', now)), false)
      await a.write((tx) => tx.webhooks.enable('wh_1', now))
      assert.equal(await b.write((tx) => tx.markFailing('wh_1', now + 1)), true)
    },
  },
  {
    name: 'rotateSecret: the new secret is the current one, every older one ends by then, and what ended is gone',
    async run({ open }) {
      const store = await open()
      const secrets = [secretOf('s2', null), secretOf('s1', BORN + 1)]
      await insertWebhooks(store, sampleWebhook('wh_1', { secrets }))
      const rotate = (id: string, end: number) =>
        store.write((tx) =>
          tx.webhooks.rotateSecret('wh_1', secretOf(id, null), end, USER, BORN + 5),
        )
      assert.equal(await rotate('s3', BORN + 9), true)
      const kept = [secretOf('s3', null), secretOf('s2', BORN + 9)]
      const rotated = await store.webhooks.get(ACCOUNT, 'wh_1')
      const origin = setParts(sampleWebhook('wh_1'), ['secret'], USER, BORN + 5)
      const after = { secrets: kept, updated_at: BORN + 5, ...origin }
      assert.deepEqual(rotated, sampleWebhook('wh_1', after))
      assert.equal(
        await store.write((tx) =>
          tx.webhooks.rotateSecret('wh_9', secretOf('s4', null), BORN, USER, BORN),
        ),
        false,
      )
    },
  },
  {
    name: 'rotateSecret: an older secret keeps an end of its own that is earlier, and is deleted from that instant on',
    async run({ open }) {
      const store = await open()
      await insertWebhooks(store, sampleWebhook('wh_1', { secrets: [secretOf('s1', null)] }))
      const rotate = (id: string, end: number, now: number) =>
        store.write((tx) => tx.webhooks.rotateSecret('wh_1', secretOf(id, null), end, USER, now))
      await rotate('s2', BORN + 20, BORN + 10)
      await rotate('s3', BORN + 50, BORN + 19)
      assert.deepEqual(await endsOf(store), ['s3 null', `s2 ${BORN + 50}`, `s1 ${BORN + 20}`])
      await rotate('s4', BORN + 40, BORN + 20)
      assert.deepEqual(await endsOf(store), ['s4 null', `s3 ${BORN + 40}`, `s2 ${BORN + 40}`])
    },
  },
  {
    name: 'rotateSecret: without an overlap the new secret is the only one, however often, whatever its id',
    async run({ open }) {
      const store = await open()
      const secrets = [secretOf('s8', null), secretOf('s9', BORN + 50)]
      const other = sampleWebhook('wh_2', { secrets: [secretOf('t2', null), secretOf('t1', 0)] })
      await insertWebhooks(store, sampleWebhook('wh_1', { secrets }), other)
      for (const id of ['s7', 's6', 's99']) {
        await store.write((tx) =>
          tx.webhooks.rotateSecret('wh_1', secretOf(id, null), BORN + 5, USER, BORN + 5),
        )
        assert.deepEqual(await endsOf(store), [`${id} null`])
      }
      const [listed] = (await store.webhooksOf(ACCOUNT)).filter(({ id }) => id === 'wh_1')
      assert.deepEqual(listed?.secrets, [secretOf('s99', null)])
      const encrypted = await store.encryptedSecrets.encryptedElsewhere('webhook_secret', 'k0', ALL)
      assert.deepEqual(
        encrypted.map(({ id }) => id),
        ['s99', 't1', 't2'],
      )
      assert.deepEqual(await store.webhooks.get(ACCOUNT, 'wh_2'), other)
    },
  },
  {
    name: 'delete: cancels what is pending or under way; its deliveries stay readable',
    async run({ open, clock }) {
      const store = await open()
      const now = clock.now()
      await insertWebhooks(store, sampleWebhook('wh_1'))
      const done = sampleDelivery('d3', { status: 'succeeded' })
      await publishDeliveries(store, sampleDelivery('d1'), sampleDelivery('d2'), done)
      const queues = [{ webhook_id: 'wh_1', limit: 1 }]
      const [claimed] = await store.claim(sampleClaim(now, { queues }))
      assert.ok(claimed)
      assert.equal(await store.write((tx) => tx.webhooks.delete('wh_1', now)), true)
      assert.equal(await store.webhooks.get(ACCOUNT, 'wh_1'), undefined)
      await store.settle([outcomeOf(claimed.delivery, now)])
      for (const id of ['d1', 'd2']) {
        const canceled = sampleDelivery(id, { status: 'canceled', done_at: now })
        assert.deepEqual(await deliveryOf(store, id), canceled)
      }
      assert.deepEqual(await deliveryOf(store, 'd3'), done)
      assert.deepEqual(await store.queueHeads(), [])
      assert.equal(await store.write((tx) => tx.webhooks.delete('wh_1', now)), false)
    },
  },
]

export const webhookCases: readonly StoreCase[] = [...recordCases, ...healthCases]
