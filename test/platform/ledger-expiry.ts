import assert from 'node:assert/strict'
import { DAY, HOUR } from '../../lib/time.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { ACCOUNT, STRANGER } from '../../plugins/store/conformance/samples.ts'
import type { PlatformCase } from './harness.ts'
import { openRacers } from './harness.ts'
import {
  NOW,
  assertVerified,
  balances,
  capture,
  creditAll,
  history,
  hold,
  lotsOf,
  on,
  release,
  sampleCredit,
  sampleHold,
} from './ledger-samples.ts'

const expiryCases: readonly PlatformCase[] = [
  {
    name: 'ledger: credit cannot be held from the instant of its expiry on, whether or not it was posted',
    async run({ open }) {
      const store = await open()
      const [one] = await creditAll(store, sampleCredit('1', { expires_at: NOW + DAY }))
      const before = NOW + DAY - 1
      assert.deepEqual(await balances(store, before), { granted: 100, available: 100 })
      assert.deepEqual(await balances(store, NOW + DAY), {})
      assert.deepEqual(await store.ledger.expiring(ACCOUNT, NOW + DAY, 9), [])
      assert.equal((await hold(store, [sampleHold('a', { now: before })])).held, true)
      const late = await hold(store, [sampleHold('b', { now: NOW + DAY })])
      assert.deepEqual([late.held, late.held || late.available], [false, 0])
      assert.deepEqual(await lotsOf(store, one?.transaction_id ?? ''), [[0, 10, 0, 90]])
      // What is held was spent when it was held; what comes back of it has expired.
      const ended = await capture(store, 'a', 4, NOW + 2 * DAY)
      assert.equal(ended?.captured, 4)
      assert.deepEqual(await lotsOf(store, one?.transaction_id ?? ''), [[0, 0, 4, 96]])
      assert.deepEqual(await balances(store), {})
      assert.deepEqual(await history(store), [
        'grant 100',
        'hold 0 held 10',
        'expiry -90',
        'capture -4 held -10',
        'expiry -6',
      ])
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: the sweep posts what is due, at most so many, and once',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      const sweep = (at: PlatformStore, now: number, limit = 10) =>
        on(at, (ledger) => ledger.expireLots(now, limit))
      await creditAll(
        store,
        sampleCredit('1', { expires_at: NOW + HOUR }),
        sampleCredit('2', { expires_at: NOW + HOUR, account_id: STRANGER, amount: 7 }),
        sampleCredit('3', { expires_at: NOW + 2 * HOUR }),
        sampleCredit('4'),
      )
      assert.deepEqual(await sweep(store, NOW + HOUR - 1), [])
      const swept = (await Promise.all(racers.map((one) => sweep(one, NOW + HOUR)))).flat()
      assert.deepEqual(swept.map(({ account_id, amount }) => `${account_id} ${amount}`).sort(), [
        `${ACCOUNT} 100`,
        `${STRANGER} 7`,
      ])
      assert.deepEqual(await sweep(store, NOW + HOUR), [])
      assert.deepEqual(await balances(store, NOW + HOUR), { granted: 200, available: 200 })
      assert.equal((await sweep(store, NOW + 9 * DAY)).length, 1)
      assert.deepEqual(await balances(store), { granted: 100, available: 100 })
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: credit that has expired when it comes expires at once',
    async run({ open }) {
      const store = await open()
      const [late] = await creditAll(store, sampleCredit('1', { expires_at: NOW }))
      assert.deepEqual([late?.amount, late?.available], [100, 0])
      assert.deepEqual(await history(store), ['grant 100', 'expiry -100'])
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: transactions keep their order when the clock steps back',
    async run({ open }) {
      const store = await open()
      await creditAll(store, sampleCredit('1'), sampleCredit('2', { now: NOW - DAY }))
      await hold(store, [sampleHold('a', { now: NOW - DAY })])
      await capture(store, 'a', 3, NOW - 2 * DAY)
      await assertVerified(store)
      const wallet = await store.ledger.wallet(ACCOUNT, NOW)
      assert.equal(wallet?.updated_at, NOW)
    },
  },
]

const lowCases: readonly PlatformCase[] = [
  {
    name: 'ledger: the call that crosses the threshold says so, once until it is above again',
    async run({ open }) {
      const store = await open()
      const setLow = (micros: number | null) =>
        on(store, (ledger) =>
          ledger.setLowBalance({ account_id: ACCOUNT, currency: 'USD', micros, now: NOW }),
        )
      const since = async () => (await store.ledger.wallet(ACCOUNT, NOW))?.low_since
      const low = async (outcome: Promise<{ readonly held: boolean } | undefined>) =>
        (await outcome) as { readonly low?: unknown } | undefined
      assert.deepEqual(await setLow(1), { available: 0, low_balance: 1 })
      assert.equal(await setLow(50), null, 'it is low already')
      const [first] = await creditAll(store, sampleCredit('1', { amount: 60 }))
      assert.equal(first?.low, null)
      assert.equal(await since(), null)
      assert.equal((await low(hold(store, [sampleHold('a')])))?.low, null, 'at the threshold')
      const crossed = await low(hold(store, [sampleHold('b', { amount: 1 })]))
      assert.deepEqual(crossed?.low, { available: 49, low_balance: 50 })
      assert.equal(await since(), NOW)
      assert.equal((await low(hold(store, [sampleHold('c')])))?.low, null)
      await release(store, 'a')
      await release(store, 'b')
      assert.equal(await since(), null)
      const again = await low(hold(store, [sampleHold('d')]))
      assert.deepEqual(again?.low, { available: 40, low_balance: 50 })
      assert.equal(await setLow(null), null)
      assert.equal(await since(), null)
      await creditAll(store, sampleCredit('2', { amount: 1000, expires_at: NOW + DAY }))
      assert.equal(await setLow(500), null)
      const swept = await on(store, (ledger) => ledger.expireLots(NOW + DAY, 9))
      assert.deepEqual(
        swept.map((one) => one.low),
        [{ available: 40, low_balance: 500 }],
      )
      await assertVerified(store)
    },
  },
]

/** Credit that expires, and the threshold of a balance. */
export const ledgerExpiryCases: readonly PlatformCase[] = [...expiryCases, ...lowCases]
