import assert from 'node:assert/strict'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { assertOneWon } from '../../plugins/store/conformance/harness.ts'
import type { PlatformCase } from './harness.ts'
import { openRacers } from './harness.ts'
import {
  DECEMBER,
  NOW,
  assertVerified,
  balances,
  capture,
  creditAll,
  hold,
  on,
  release,
  sampleCredit,
  sampleHold,
} from './ledger-samples.ts'

const PARENT = { key_id: 'key_parent', monthly_micros: 50 }
const CHILD = { key_id: 'key_child', monthly_micros: 30 }
const SIBLING = { key_id: 'key_sibling', monthly_micros: 40 }

/** What keys hold and have spent, in the month of an instant. */
async function spending(store: PlatformStore, now = NOW): Promise<readonly string[]> {
  const ids = [PARENT, CHILD, SIBLING].map(({ key_id }) => key_id)
  const rows = await store.ledger.keySpending(ids, now)
  return rows.map(({ key_id, held, spent }) => `${key_id} ${held} ${spent}`)
}

/** Budgets of keys, drawn on by holds. */
export const ledgerBudgetCases: readonly PlatformCase[] = [
  {
    name: 'ledger: a hold is drawn from the budgets of a key and those above it, and refused by the one with the least left',
    async run({ open }) {
      const store = await open()
      await creditAll(store, sampleCredit('1', { amount: 1000 }))
      const chain = [PARENT, CHILD]
      assert.equal((await hold(store, [sampleHold('a', { amount: 25 })], chain)).held, true)
      assert.deepEqual(await spending(store), ['key_child 25 0', 'key_parent 25 0'])
      assert.deepEqual(await hold(store, [sampleHold('b', { amount: 6 })], chain), {
        held: false,
        source: 'key',
        key_id: 'key_child',
        required: 6,
        available: 5,
        debt: 0,
        resets_at: DECEMBER,
        low: null,
      })
      const sibling = [PARENT, SIBLING]
      const refused = await hold(store, [sampleHold('c', { amount: 26 })], sibling)
      assert.deepEqual(refused.held || refused.key_id, 'key_parent')
      assert.equal((await hold(store, [sampleHold('d', { amount: 25 })], sibling)).held, true)
      await capture(store, 'a', 20)
      await release(store, 'd')
      assert.deepEqual(await spending(store), [
        'key_child 0 20',
        'key_parent 0 20',
        'key_sibling 0 0',
      ])
      assert.equal((await hold(store, [sampleHold('e', { amount: 30 })], sibling)).held, true)
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: of the balance and budgets the one with the least available is the source, the balance where they are equal',
    async run({ open }) {
      const store = await open()
      const source = async (amount: number) => {
        const outcome = await hold(store, [sampleHold('a', { amount })], [CHILD])
        return outcome.held ? 'held' : `${outcome.source} ${outcome.available}`
      }
      assert.equal(await source(31), 'wallet 0', 'no wallet')
      await creditAll(store, sampleCredit('1', { amount: 30 }))
      assert.equal(await source(31), 'wallet 30')
      await creditAll(store, sampleCredit('2', { amount: 1 }))
      assert.equal(await source(31), 'key 30')
      assert.equal(await source(30), 'held')
    },
  },
  {
    name: 'ledger: budgets begin again with the month of UTC; a hold ends in the month that it was made in',
    async run({ open }) {
      const store = await open()
      await creditAll(store, sampleCredit('1', { amount: 1000 }))
      const at = (id: string, now: number) => sampleHold(id, { amount: 30, now })
      assert.equal((await hold(store, [at('a', DECEMBER - 1)], [CHILD])).held, true)
      assert.equal((await hold(store, [at('b', DECEMBER - 1)], [CHILD])).held, false)
      assert.equal((await hold(store, [at('b', DECEMBER)], [CHILD])).held, true)
      await capture(store, 'a', 12, DECEMBER + 1)
      await on(store, (ledger) => ledger.expireHolds(DECEMBER + 40 * 86_400_000, 10))
      assert.deepEqual(await spending(store, DECEMBER - 1), ['key_child 0 12'])
      assert.deepEqual(await spending(store, DECEMBER), ['key_child 0 0'])
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: concurrent holds never exceed a budget; work that is held already draws nothing',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await creditAll(store, sampleCredit('1', { amount: 1000 }))
      const outcomes = await Promise.all(
        racers.map((one, at) => hold(one, [sampleHold(`${at}`, { amount: 16 })], [CHILD])),
      )
      assertOneWon(outcomes.map(({ held }) => held))
      const won = outcomes.findIndex(({ held }) => held)
      const again = await hold(store, [sampleHold(`${won}`, { amount: 16 })], [CHILD])
      assert.deepEqual(again, { held: true, required: 0, low: null })
      assert.deepEqual(await spending(store), ['key_child 16 0'])
      assert.deepEqual(await balances(store), { granted: 984, held: 16, available: 984 })
      await assertVerified(store)
    },
  },
]
