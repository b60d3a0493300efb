import assert from 'node:assert/strict'
import type { DomainState } from '../../plugins/platform/contract/domains.ts'
import { JOB_KINDS } from '../../plugins/platform/contract/jobs.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { sitesTold } from './deployment-samples.ts'
import {
  GIVEN_UP,
  VERIFIED,
  claimDomain,
  insertDomains,
  sampleDomain,
  sampleDomainClaim,
} from './domain-samples.ts'
import type { PlatformCase } from './harness.ts'
import { assertOneWon } from '../../plugins/store/conformance/harness.ts'
import { openRacers } from './harness.ts'
import { BORN, STRANGER } from '../../plugins/store/conformance/samples.ts'

const DUE = BORN + 60_000
const LEASE = 60_000
const FURTHEST = JOB_KINDS.domain_check.furthest
const SHOP = { hostname: 'shop.example.com' }

const claimDue = async (
  store: PlatformStore,
  claim: string,
  now: number,
): Promise<string | undefined> => (await claimDomain(store, claim, now))?.id

const claimOne = async (
  store: PlatformStore,
  id: string,
  claim: string,
  now: number,
  since = now,
) => {
  const asked = { ...sampleDomainClaim(claim, now), since }
  return (await store.write((tx) => tx.domains.claimOne('app_1', id, asked)))?.id
}

const settle = (
  store: PlatformStore,
  id: string,
  claim: string,
  standing: DomainState,
  before: DomainState['status'] = 'pending',
) => store.write((tx) => tx.domains.settle({ id, status: before }, claim, standing))

const claimCases: readonly PlatformCase[] = [
  {
    name: 'domains: a claim takes what has been due longest, whatever its status, and none twice',
    async run({ open }) {
      const store = await open()
      assert.equal(await store.jobs.isClaimable('domain_check', DUE), false)
      await insertDomains(
        store,
        sampleDomain('dom_1'),
        sampleDomain('dom_2', { ...VERIFIED, next_check_at: DUE - 5 }),
        sampleDomain('dom_3', GIVEN_UP),
        sampleDomain('dom_4', { next_check_at: DUE + 1 }),
        sampleDomain('dom_5'),
      )
      assert.equal(await store.jobs.isClaimable('domain_check', DUE - 6), false)
      assert.equal(await store.jobs.isClaimable('domain_check', DUE), true)
      const claimed: (string | undefined)[] = []
      for (const claim of ['a', 'b', 'c', 'd']) claimed.push(await claimDue(store, claim, DUE))
      assert.deepEqual(claimed, ['dom_2', 'dom_1', 'dom_5', undefined])
      assert.equal(await store.jobs.isClaimable('domain_check', DUE), false)
      const before = sampleDomain('dom_1')
      assert.deepEqual(await store.domains.get('app_1', 'dom_1'), before)
    },
  },
  {
    name: 'domains: of racers for one that is due, or for one by its name, one gets it',
    async run(harness) {
      const racers = await openRacers(harness)
      await insertDomains(racers[0], sampleDomain('dom_1'))
      const due = await Promise.all(racers.map((store, at) => claimDue(store, `due ${at}`, DUE)))
      assertOneWon(due.map((id) => id !== undefined))
      const later = DUE + LEASE
      const named = await Promise.all(
        racers.map((store, at) => claimOne(store, 'dom_1', `named ${at}`, later)),
      )
      assertOneWon(named.map((id) => id !== undefined))
    },
  },
  {
    name: 'domains: a look whose lease has ended is begun by another, and records nothing any more',
    async run({ open }) {
      const store = await open()
      await insertDomains(store, sampleDomain('dom_1'))
      assert.equal(await claimDue(store, 'a', DUE), 'dom_1')
      assert.equal(await claimDue(store, 'b', DUE + LEASE - 1), undefined)
      assert.equal(await claimDue(store, 'b', DUE + LEASE), 'dom_1')
      assert.equal(await settle(store, 'dom_1', 'a', VERIFIED), 'lost')
      assert.deepEqual(await store.domains.get('app_1', 'dom_1'), sampleDomain('dom_1'))
      assert.equal(await settle(store, 'dom_1', 'b', VERIFIED), 'settled')
    },
  },
  {
    name: 'domains: one by its name is looked at before it is due, but not at once again or from another app',
    async run({ open }) {
      const store = await open()
      await insertDomains(store, sampleDomain('dom_1'), sampleDomain('dom_2', { app_id: 'app_2' }))
      assert.equal(await claimOne(store, 'dom_2', 'a', BORN), undefined)
      assert.equal(await claimOne(store, 'dom_9', 'a', BORN), undefined)
      assert.equal(await claimOne(store, 'dom_1', 'a', BORN), 'dom_1')
      assert.equal(await claimOne(store, 'dom_1', 'b', BORN + LEASE - 1), undefined, 'under way')
      const pending = { ...VERIFIED, status: 'pending', verified_at: null } as const
      assert.equal(await settle(store, 'dom_1', 'a', pending), 'settled')
      const looked = BORN + 70_000
      assert.equal(await claimOne(store, 'dom_1', 'b', looked + 9, looked - 1), undefined)
      assert.equal(await claimOne(store, 'dom_1', 'b', looked + 10, looked), 'dom_1')
    },
  },
  {
    name: 'domains: a look that a clock ahead of ours put off, and a lease that it gave, hold nobody up',
    async run({ open }) {
      const store = await open()
      const ahead = DUE + 2 ** 40
      await insertDomains(
        store,
        sampleDomain('dom_1', { next_check_at: DUE + FURTHEST }),
        sampleDomain('dom_2', { next_check_at: DUE + FURTHEST + 1 }),
        sampleDomain('dom_3', { ...VERIFIED, next_check_at: ahead, checked_at: ahead }),
      )
      assert.equal(await store.jobs.isClaimable('domain_check', DUE), true)
      assert.equal(await claimDue(store, 'a', DUE), 'dom_2')
      assert.equal(await claimDue(store, 'b', DUE), 'dom_3')
      assert.equal(await claimDue(store, 'c', DUE), undefined)
      assert.equal(await store.jobs.isClaimable('domain_check', DUE), false)
      assert.equal(await claimOne(store, 'dom_1', 'd', ahead), 'dom_1')
      assert.equal(await claimOne(store, 'dom_1', 'e', ahead - 60_000), undefined, 'held')
      assert.equal(await claimOne(store, 'dom_1', 'e', DUE), 'dom_1', 'held for too long')
      const later = DUE + LEASE
      assert.equal(await claimOne(store, 'dom_3', 'f', later, later - 10), 'dom_3')
    },
  },
]

const settleCases: readonly PlatformCase[] = [
  {
    name: 'domains: what a look led to is recorded whole, once, and lets go of it',
    async run({ open }) {
      const store = await open()
      const verifiedOf = sitesTold(store)
      await insertDomains(store, sampleDomain('dom_1'))
      await claimDue(store, 'a', DUE)
      assert.equal(await settle(store, 'dom_1', 'a', VERIFIED, 'verifying'), 'lost')
      assert.equal(verifiedOf.size, 0)
      assert.equal(await settle(store, 'dom_1', 'a', VERIFIED), 'settled')
      assert.deepEqual([...verifiedOf], ['app_1'])
      assert.equal(await settle(store, 'dom_1', 'a', GIVEN_UP, 'verified'), 'lost')
      const verified = sampleDomain('dom_1', VERIFIED)
      assert.deepEqual(await store.domains.get('app_1', 'dom_1'), verified)
      await store.write((tx) => tx.domains.setPrimary('app_1', 'dom_1', true))
      await claimOne(store, 'dom_1', 'b', BORN + 80_000)
      assert.equal(await settle(store, 'dom_1', 'b', VERIFIED, 'verified'), 'settled')
      assert.equal((await store.domains.get('app_1', 'dom_1'))?.primary, true)
      await claimOne(store, 'dom_1', 'c', BORN + 90_000)
      const failedOf = sitesTold(store)
      assert.equal(await settle(store, 'dom_1', 'c', GIVEN_UP, 'verified'), 'settled')
      const failed = sampleDomain('dom_1', { ...GIVEN_UP, primary: false })
      assert.deepEqual(await store.domains.get('app_1', 'dom_1'), failed)
      assert.equal(await store.jobs.isClaimable('domain_check', BORN + 2 ** 40), false)
      assert.deepEqual([...failedOf], ['app_1'])
    },
  },
  {
    name: 'domains: one that is deleted meanwhile is not brought back',
    async run(harness) {
      const [one, other] = await openRacers(harness)
      await insertDomains(one, sampleDomain('dom_1', SHOP))
      await claimDue(one, 'a', DUE)
      await Promise.all([
        settle(one, 'dom_1', 'a', VERIFIED),
        other.write((tx) => tx.domains.remove('app_1', 'dom_1')),
      ])
      assert.equal(await settle(one, 'dom_1', 'a', VERIFIED), 'lost')
      assert.equal(await one.domains.get('app_1', 'dom_1'), undefined)
    },
  },
  {
    name: 'domains: of two of one hostname that are proved at once one wins, and the other waits on',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      const ids = ['dom_1', 'dom_2'] as const
      await insertDomains(
        store,
        sampleDomain('dom_1', SHOP),
        sampleDomain('dom_2', { ...SHOP, app_id: 'app_2', account_id: STRANGER }),
      )
      for (const id of ids) assert.equal(await claimDue(store, id, DUE), id)
      const outcomes = await Promise.all(
        racers.map((racer, at) => settle(racer, ids[at] ?? '', ids[at] ?? '', VERIFIED)),
      )
      assert.deepEqual([...outcomes].sort(), ['settled', 'taken'])
      const loser = ids[outcomes.indexOf('taken')] ?? ''
      const waiting = { ...VERIFIED, status: 'verifying', error: 'domain_in_use' } as const
      assert.equal(await settle(store, loser, loser, waiting), 'settled', 'its look goes on')
      const [winner] = ids.filter((id) => id !== loser)
      const looked = await claimDomain(store, 'again', BORN + 2 ** 40)
      assert.ok(looked !== undefined)
      const standings = await Promise.all(
        ids.map((id, at) => store.domains.get(`app_${at + 1}`, id)),
      )
      const statuses = standings.map((domain) => [domain?.id, domain?.status])
      assert.deepEqual(
        statuses,
        ids.map((id) => [id, id === winner ? 'verified' : 'verifying']),
      )
    },
  },
]

/** Domains: looks at them, which one process takes at a time. */
export const domainClaimCases: readonly PlatformCase[] = [...claimCases, ...settleCases]
