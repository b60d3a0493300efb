import assert from 'node:assert/strict'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { sitesTold } from './deployment-samples.ts'
import { GIVEN_UP, VERIFIED, insertApp, insertDomains, sampleDomain } from './domain-samples.ts'
import type { PlatformCase } from './harness.ts'
import { assertOneWon, readPages } from '../../plugins/store/conformance/harness.ts'
import { openRacers } from './harness.ts'
import { BORN, STRANGER } from '../../plugins/store/conformance/samples.ts'

const SHOP = { hostname: 'shop.example.com' }
const ELSEWHERE = { app_id: 'app_2', account_id: STRANGER }

const idOf = async (store: PlatformStore, hostname: string): Promise<string | undefined> =>
  (await store.domains.domainByHostname(hostname))?.id

const recordCases: readonly PlatformCase[] = [
  {
    name: 'domains: a record comes back as it was inserted; a foreign or unknown id finds nothing',
    async run({ open }) {
      const store = await open()
      const full = sampleDomain('dom_1', {
        ...GIVEN_UP,
        created_by: { type: 'operator', id: null },
      })
      await insertDomains(store, full, sampleDomain('dom_2', { ...VERIFIED, primary: true }))
      assert.deepEqual(await store.domains.get('app_1', 'dom_1'), full)
      const primary = sampleDomain('dom_2', { ...VERIFIED, primary: true })
      assert.deepEqual(await store.domains.get('app_1', 'dom_2'), primary)
      assert.equal(await store.domains.get('app_2', 'dom_1'), undefined)
      assert.equal(await store.domains.get('app_1', 'dom_9'), undefined)
    },
  },
  {
    name: 'domains: those of an app are listed newest first, whole while others are made',
    async run({ open }) {
      const store = await open()
      const ids = ['dom_1', 'dom_2', 'dom_3', 'dom_4', 'dom_5']
      await insertDomains(store, ...ids.map((id) => sampleDomain(id)))
      await insertDomains(store, sampleDomain('dom_0', ELSEWHERE))
      assert.equal(await store.domains.count('app_1'), 5)
      let made = 5
      const seen = await readPages(
        (after) => store.domains.list({ app_id: 'app_1', limit: 2, after }),
        async () => void (await insertDomains(store, sampleDomain(`dom_${++made}`))),
      )
      assert.deepEqual(seen, ids.toReversed())
    },
  },
  {
    name: 'domains: claims of one hostname wait side by side, but once in an app and never beside its holder',
    async run({ open }) {
      const store = await open()
      const claims = [
        sampleDomain('dom_1', SHOP),
        sampleDomain('dom_2', { ...SHOP, ...ELSEWHERE }),
        sampleDomain('dom_3', SHOP),
      ]
      assert.deepEqual(await insertDomains(store, ...claims), [true, true, false])
      const held = { ...VERIFIED, hostname: 'held.example.com' }
      const others = [
        sampleDomain('dom_4', held),
        sampleDomain('dom_5', { ...ELSEWHERE, hostname: 'held.example.com' }),
        sampleDomain('dom_6', { ...held, ...ELSEWHERE }),
      ]
      assert.deepEqual(await insertDomains(store, ...others), [true, false, false])
      assert.equal(await store.domains.count('app_2'), 1)
    },
  },
  {
    name: 'domains: of racers that claim a hostname for one app one gets it, and of holders one',
    async run(harness) {
      const racers = await openRacers(harness)
      const waiting = racers.map((store, at) =>
        insertDomains(store, sampleDomain(`dom_${at}`, SHOP)),
      )
      assertOneWon((await Promise.all(waiting)).flat())
      const held = { ...VERIFIED, hostname: 'held.example.com' }
      const holding = racers.map((store, at) =>
        insertDomains(store, sampleDomain(`held_${at}`, { ...held, app_id: `app_${at}` })),
      )
      assertOneWon((await Promise.all(holding)).flat())
    },
  },
]

const hostCases: readonly PlatformCase[] = [
  {
    name: 'domains: a hostname leads to its app once it is verified, while that is not archived',
    async run({ open }) {
      const store = await open()
      await insertApp(store, 'app_1')
      await insertDomains(store, sampleDomain('dom_1', { ...VERIFIED, ...SHOP }))
      await insertDomains(store, sampleDomain('dom_2', { hostname: 'waits.example.com' }))
      await insertDomains(
        store,
        sampleDomain('dom_3', { ...GIVEN_UP, hostname: 'lost.example.com' }),
      )
      assert.equal(await idOf(store, 'shop.example.com'), 'dom_1')
      for (const hostname of ['waits.example.com', 'lost.example.com', 'SHOP.example.com', '']) {
        assert.equal(await idOf(store, hostname), undefined, hostname)
      }
      await store.write((tx) => tx.apps.archive('app_1', BORN + 1, BORN + 9))
      assert.equal(await idOf(store, 'shop.example.com'), undefined)
      await store.write((tx) => tx.apps.restore('app_1', BORN + 2))
      assert.equal(await idOf(store, 'shop.example.com'), 'dom_1')
    },
  },
  {
    name: 'domains: of an app one is primary at most, and a verified one alone',
    async run({ open }) {
      const store = await open()
      await insertDomains(
        store,
        sampleDomain('dom_1', VERIFIED),
        sampleDomain('dom_2', VERIFIED),
        sampleDomain('dom_3'),
        sampleDomain('dom_4', { ...VERIFIED, ...ELSEWHERE, primary: true }),
      )
      const set = (id: string, primary: boolean, appId = 'app_1') =>
        store.write((tx) => tx.domains.setPrimary(appId, id, primary))
      const primaries = async (appId = 'app_1'): Promise<readonly string[]> => {
        const { rows } = await store.domains.list({ app_id: appId, limit: 9, after: null })
        return rows.filter(({ primary }) => primary).map(({ id }) => id)
      }
      assert.equal(await set('dom_1', true), true)
      assert.equal(await set('dom_2', true), true)
      assert.deepEqual(await primaries(), ['dom_2'])
      for (const id of ['dom_3', 'dom_4', 'dom_9']) assert.equal(await set(id, true), false, id)
      assert.equal(await set('dom_1', false), true)
      assert.deepEqual(await primaries(), ['dom_2'])
      assert.equal(await set('dom_2', false), true)
      assert.equal(await set('dom_9', false), false)
      assert.equal(await set('dom_4', false), false)
      assert.deepEqual([await primaries(), await primaries('app_2')], [[], ['dom_4']])
    },
  },
  {
    name: 'domains: one is deleted once and not from another app, and a purged app leaves none',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await insertApp(store, 'app_1', { archived_at: BORN, purge_at: BORN + 9 })
      await insertDomains(
        store,
        sampleDomain('dom_1', VERIFIED),
        sampleDomain('dom_2'),
        sampleDomain('dom_3', ELSEWHERE),
      )
      const remove = (one: PlatformStore, id: string) =>
        one.write((tx) => tx.domains.remove('app_1', id))
      assertOneWon(await Promise.all(racers.map((one) => remove(one, 'dom_1'))))
      assert.equal(await remove(store, 'dom_3'), false)
      assert.equal(await store.write((tx) => tx.apps.purge('app_1', BORN + 9)), true)
      assert.equal(await store.domains.count('app_1'), 0)
      assert.equal(await store.domains.count('app_2'), 1)
    },
  },
  {
    name: 'domains: what changes where a verified hostname leads to is told of as a change of the site',
    async run({ open }) {
      const store = await open()
      const before = sitesTold(store)
      await insertDomains(store, sampleDomain('dom_1'), sampleDomain('dom_2', ELSEWHERE))
      await store.write((tx) => tx.domains.remove('app_2', 'dom_2'))
      await insertDomains(store, sampleDomain('dom_3', { ...VERIFIED, app_id: 'app_3' }))
      assert.deepEqual([...before], ['app_3'])
      const chosen = sitesTold(store)
      await store.write((tx) => tx.domains.setPrimary('app_3', 'dom_3', true))
      assert.deepEqual([...chosen], ['app_3'])
      const removed = sitesTold(store)
      await store.write((tx) => tx.domains.remove('app_3', 'dom_3'))
      assert.deepEqual([...removed], ['app_3'])
    },
  },
]

/** Domains: their records, and what hosts lead to. */
export const domainCases: readonly PlatformCase[] = [...recordCases, ...hostCases]
