import assert from 'node:assert/strict'
import type { ChargeState, Micros } from '../../plugins/platform/contract/ledger.ts'
import { DAY } from '../../lib/time.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { assertOneWon } from '../../plugins/store/conformance/harness.ts'
import { ACCOUNT, STRANGER } from '../../plugins/store/conformance/samples.ts'
import type { PlatformCase } from './harness.ts'
import { openRacers } from './harness.ts'
import {
  NOW,
  OPERATOR,
  assertVerified,
  balances,
  capture,
  creditAll,
  history,
  hold,
  on,
  release,
  sampleCharge,
  sampleCredit,
  sampleHold,
  sampleTopup,
} from './ledger-samples.ts'

const reconcile = (store: PlatformStore, charge: ChargeState, now = NOW) =>
  on(store, (ledger) => ledger.reconcile(charge, now))

/** A top-up of 100 whose charge is refunded by these amounts. */
async function topUp(store: PlatformStore): Promise<(...active: readonly Micros[]) => ChargeState> {
  const [posted] = await creditAll(store, sampleTopup('1'))
  const id = posted?.transaction_id ?? ''
  return (...active) =>
    sampleCharge(
      id,
      active.map((amount) => ({ amount, active: true })),
    )
}

/** Every order of a list. */
function orders<T>(list: readonly T[]): readonly (readonly T[])[] {
  if (list.length < 2) return [list]
  return list.flatMap((one, at) => orders(list.toSpliced(at, 1)).map((rest) => [one, ...rest]))
}

const clawbackCases: readonly PlatformCase[] = [
  {
    name: 'ledger: a refund takes back its share of the credit, counted once however often it is told',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      const refunded = await topUp(store)
      assert.deepEqual(await reconcile(store, refunded()), [])
      const all = await Promise.all(racers.map((one) => reconcile(one, refunded(30))))
      assertOneWon(all.map((posted) => posted?.length === 1))
      assert.deepEqual(await reconcile(store, refunded(30)), [])
      assert.deepEqual(await balances(store), { paid: 70, available: 70 })
      const more = await reconcile(store, refunded(30, 20))
      assert.deepEqual(
        more?.map(({ amount }) => amount),
        [20],
      )
      await reconcile(store, refunded(30, 20, 500))
      assert.deepEqual(await balances(store), {})
      assert.deepEqual(await history(store), [
        'topup 100',
        'clawback -30',
        'clawback -20',
        'clawback -50',
      ])
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: a dispute that was won gives back what it took; the rest is taken again in one clawback',
    async run({ open }) {
      const store = await open()
      const refunded = await topUp(store)
      await reconcile(store, refunded(20))
      await reconcile(store, refunded(20, 60))
      assert.deepEqual(await balances(store), { paid: 20, available: 20 })
      const back = await reconcile(store, refunded(20))
      assert.deepEqual(
        back?.map(({ amount, balance }) => [amount, balance]),
        [[60, 80]],
      )
      // A part of what was taken at once is reversed whole, and taken again as far as it is due.
      const part = await reconcile(store, refunded(5))
      assert.deepEqual(
        part?.map(({ amount }) => amount),
        [20, 5],
      )
      assert.deepEqual(await history(store), [
        'topup 100',
        'clawback -20',
        'clawback -60',
        'reinstatement 60',
        'reinstatement 20',
        'clawback -5',
      ])
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: every order in which refunds and disputes become known ends in the same balance',
    async run({ open }) {
      const store = await open()
      // Two refunds, a refund that failed afterwards, and a dispute that is won once the last item is known.
      const items = [30, 10, 45, 60]
      for (const [index, order] of orders([0, 1, 2, 3]).entries()) {
        const account_id = `acc_of_${index}`
        const [posted] = await creditAll(store, sampleTopup(`${index}`, { account_id }))
        const id = posted?.transaction_id ?? ''
        const known: Micros[] = []
        const tell = (items: readonly Micros[], failed: readonly Micros[]) =>
          reconcile(
            store,
            sampleCharge(
              id,
              items.map((amount) => ({ amount, active: !failed.includes(amount) })),
              { account_id, charge_id: `ch_${index}` },
            ),
          )
        for (const at of order) {
          known.push(items[at] ?? 0)
          await tell(known, [])
          assert.deepEqual(await tell(known, []), [])
        }
        await tell(known, [45])
        await tell(known.toReversed(), [45, 60])
        assert.deepEqual(await balances(store, NOW, account_id), { paid: 60, available: 60 })
      }
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: what a clawback cannot take is a debt, which the next credit pays first and nothing can be held against',
    async run({ open }) {
      const store = await open()
      const refunded = await topUp(store)
      const [other] = await creditAll(store, sampleCredit('2', { amount: 50 }))
      await hold(store, [sampleHold('a', { amount: 50 }), sampleHold('b', { amount: 80 })])
      await capture(store, 'a')
      // The grant was held first: of the top-up 80 are held and 20 are left.
      await reconcile(store, refunded(100))
      assert.deepEqual(await balances(store), { held: 80, debt: 80 })
      assert.deepEqual(await hold(store, [sampleHold('c')]), {
        held: false,
        source: 'account',
        key_id: null,
        required: 10,
        available: 0,
        debt: 80,
        resets_at: null,
        low: null,
      })
      await release(store, 'b')
      assert.deepEqual(await balances(store), {}, 'what comes back pays the debt')
      assert.deepEqual((await history(store)).slice(4), [
        'capture -50 held -50',
        'clawback -20 debt -80',
        'release 0 held -80',
        'debt_payment -80 debt 80',
      ])
      assert.equal((await store.ledger.getCredit(ACCOUNT, other?.transaction_id ?? ''))?.spent, 50)
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: what a clawback cannot take of its own payment, other credit pays at once, as it is spent',
    async run({ open }) {
      const store = await open()
      const refunded = await topUp(store)
      await hold(store, [sampleHold('a', { amount: 90 })])
      await capture(store, 'a')
      const later = { amount: 30, expires_at: NOW + 2 * DAY }
      await creditAll(store, sampleCredit('2', later))
      await creditAll(store, sampleCredit('3', { amount: 20, expires_at: NOW + DAY }))
      await reconcile(store, refunded(50))
      assert.deepEqual(await balances(store), { granted: 10, available: 10 })
      assert.deepEqual((await history(store)).slice(-3), [
        'clawback -10 debt -40',
        'debt_payment -20 debt 20',
        'debt_payment -20 debt 20',
      ])
      await reconcile(store, refunded(50, 30))
      assert.deepEqual(await balances(store), { debt: 20 })
      const [paying] = await creditAll(store, sampleCredit('4', { amount: 70 }))
      assert.deepEqual([paying?.amount, paying?.balance], [70, 50])
      assert.deepEqual(await balances(store), { granted: 50, available: 50 })
      await assertVerified(store)
      await reconcile(store, refunded())
      assert.deepEqual(await balances(store), { paid: 80, granted: 50, available: 130 })
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: the end of a hold pays a debt from what comes back, since nothing else is left',
    async run({ open }) {
      const store = await open()
      const refunded = await topUp(store)
      await hold(store, [sampleHold('a', { amount: 100 })])
      await capture(store, 'a')
      await creditAll(store, sampleTopup('2', { amount: 100 }))
      await hold(store, [sampleHold('b', { amount: 40 })])
      await reconcile(store, refunded(100))
      assert.deepEqual(await balances(store), { held: 40, debt: 40 })
      await capture(store, 'b', 10)
      assert.deepEqual(await balances(store), { debt: 10 })
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: a reinstatement forgives the debt that is left, and other credit that paid it comes back as credit of its own',
    async run({ open }) {
      const store = await open()
      const refunded = await topUp(store)
      await hold(store, [sampleHold('a', { amount: 100 })])
      await capture(store, 'a', 90)
      await reconcile(store, refunded(100))
      assert.deepEqual(await balances(store), { debt: 90 })
      await creditAll(store, sampleCredit('2', { amount: 40 }))
      assert.deepEqual(await balances(store), { debt: 50 })
      const [back] = (await reconcile(store, refunded())) ?? []
      assert.equal(back?.amount, 100)
      assert.deepEqual(await balances(store), { paid: 50, available: 50 })
      const own = await store.ledger.getCredit(ACCOUNT, back?.transaction_id ?? '')
      assert.deepEqual(
        [own?.kind, own?.amount, own?.remaining, own?.expires_at],
        ['reinstatement', 40, 40, null],
      )
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: what is still refunded after a reinstatement is paid by the credit that came back',
    async run({ open }) {
      const store = await open()
      const refunded = await topUp(store)
      await hold(store, [sampleHold('a', { amount: 100 })])
      await capture(store, 'a')
      await creditAll(store, sampleCredit('2', { amount: 40 }))
      await reconcile(store, refunded(60))
      assert.deepEqual(await balances(store), { debt: 20 })
      await reconcile(store, refunded(30))
      assert.deepEqual(await balances(store), { paid: 10, available: 10 })
      assert.deepEqual((await history(store)).slice(-3), [
        'reinstatement 40 debt 20',
        'clawback 0 debt -30',
        'debt_payment -30 debt 30',
      ])
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: a refund of credit that has expired is no debt; what is given back of it expires again',
    async run({ open }) {
      const store = await open()
      const [posted] = await creditAll(store, sampleTopup('1', { expires_at: NOW + DAY }))
      const refunded = (...active: readonly Micros[]) =>
        sampleCharge(
          posted?.transaction_id ?? '',
          active.map((amount) => ({ amount, active: true })),
        )
      await reconcile(store, refunded(25), NOW)
      await reconcile(store, refunded(25, 50), NOW + DAY)
      assert.deepEqual(await balances(store), {})
      await reconcile(store, refunded(), NOW + DAY)
      assert.deepEqual(await balances(store), {})
      assert.deepEqual(await history(store), [
        'topup 100',
        'clawback -25',
        'expiry -75',
        'clawback 0',
        'reinstatement 50',
        'expiry -50',
        'reinstatement 25',
        'expiry -25',
      ])
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: a credit that the processor brought in part is clawed back in that part, to the last micro',
    async run({ open }) {
      const store = await open()
      const brought = { kind: 'monthly_credit', amount: 100, from_processor: 33 } as const
      const [posted] = await creditAll(store, sampleCredit('stripe:in_1', brought))
      const id = posted?.transaction_id ?? ''
      await hold(store, [sampleHold('a', { amount: 50 })])
      await capture(store, 'a')
      const told = (paid: Micros, ...active: readonly Micros[]) =>
        sampleCharge(
          id,
          active.map((amount) => ({ amount, active: true })),
          { paid },
        )
      for (const amount of [7, 11, 20, 33]) await reconcile(store, told(33, amount))
      assert.deepEqual(await balances(store), { debt: 50 })
      await assertVerified(store)
      await reconcile(store, told(33))
      assert.deepEqual(await balances(store), { granted: 50, available: 50 })
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: a charge of another account’s credit takes nothing',
    async run({ open }) {
      const store = await open()
      const refunded = await topUp(store)
      await creditAll(store, sampleCredit('2', { account_id: STRANGER }))
      const foreign = { ...refunded(50), account_id: STRANGER }
      assert.equal(await reconcile(store, foreign), undefined)
      assert.equal(await reconcile(store, { ...foreign, account_id: 'acc_none' }), undefined)
      assert.equal(await reconcile(store, { ...refunded(50), credit_id: 'none' }), undefined)
      assert.deepEqual(await balances(store), { paid: 100, available: 100 })
    },
  },
]

const revokeCases: readonly PlatformCase[] = [
  {
    name: 'ledger: a revoked grant cannot be spent any more; of racers one revokes it',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      const [grant, topup] = await creditAll(store, sampleCredit('1'), sampleTopup('1'))
      const id = grant?.transaction_id ?? ''
      const revoke = (at: PlatformStore, credit = id, account = ACCOUNT) =>
        on(at, (ledger) => ledger.revoke(account, credit, OPERATOR, NOW))
      await hold(store, [sampleHold('a'), sampleHold('b')])
      await capture(store, 'a')
      assert.equal(await revoke(store, id, STRANGER), undefined)
      assert.equal(await revoke(store, topup?.transaction_id), undefined)
      assert.equal(await revoke(store, 'none'), undefined)
      const revoked = await Promise.all(racers.map((one) => revoke(one)))
      assertOneWon(revoked.map((one) => one !== 'revoked'))
      assert.deepEqual(await balances(store), { paid: 100, held: 10, available: 100 })
      const shown = await store.ledger.getCredit(ACCOUNT, id)
      assert.deepEqual([shown?.clawed, shown?.revoked_at], [80, NOW])
      await release(store, 'b')
      assert.deepEqual(await balances(store), { paid: 100, available: 100 })
      assert.deepEqual((await history(store)).slice(-3), [
        'revoke -80',
        'release 0 held -10',
        'expiry -10',
      ])
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: a grant of which nothing is left is revoked all the same',
    async run({ open }) {
      const store = await open()
      const [grant] = await creditAll(store, sampleCredit('1', { amount: 10 }))
      await hold(store, [sampleHold('a')])
      await capture(store, 'a')
      const revoke = () =>
        on(store, (ledger) => ledger.revoke(ACCOUNT, grant?.transaction_id ?? '', OPERATOR, NOW))
      const first = await revoke()
      assert.equal(first === 'revoked' ? undefined : first?.amount, 0)
      assert.equal(await revoke(), 'revoked')
      await assertVerified(store)
    },
  },
]

const usageCases: readonly PlatformCase[] = [
  {
    name: 'ledger: use that was not held takes what is available; the rest is a debt, once per key',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      const use = {
        account_id: ACCOUNT,
        currency: 'USD',
        key: 'app_1:2023-11-14',
        operation: 'hosting.egress_bytes',
        meter: 'egress_bytes',
        quantity: 5000,
        app_id: 'app_1',
        amount: 60,
        price_version: 'v1',
        now: NOW,
      }
      const charge = (at: PlatformStore, changes: object = {}) =>
        on(at, (ledger) => ledger.charge({ ...use, ...changes }))
      await creditAll(store, sampleCredit('1', { amount: 40 }), sampleTopup('1', { amount: 30 }))
      const all = await Promise.all(racers.map((one) => charge(one)))
      assertOneWon(all.map((one) => one !== undefined))
      assert.deepEqual(await balances(store), { paid: 10, available: 10 })
      assert.equal((await charge(store, { key: 'next', amount: 25 }))?.amount, 25)
      assert.deepEqual(await balances(store), { debt: 15 })
      await charge(store, { key: 'new', account_id: STRANGER })
      assert.deepEqual(await balances(store, NOW, STRANGER), { debt: 60 })
      const days = { account_id: ACCOUNT, from: '2023-11-14', to: '2023-11-14' }
      assert.deepEqual(await store.ledger.usageTotals(days), { count: 2, charged: 85 })
      await assertVerified(store)
    },
  },
]

/** What is taken back, and what was not held. */
export const ledgerClawbackCases: readonly PlatformCase[] = [
  ...clawbackCases,
  ...revokeCases,
  ...usageCases,
]
