import assert from 'node:assert/strict'
import { DAY, HOUR } from '../../lib/time.ts'
import { MAX_MICROS } from '../../plugins/platform/contract/ledger.ts'
import { assertOneWon } from '../../plugins/store/conformance/harness.ts'
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
  sampleTopup,
  work,
} from './ledger-samples.ts'

const creditCases: readonly PlatformCase[] = [
  {
    name: 'ledger: credit is added once per origin, of racers too, and an account without any has no wallet',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      assert.equal(await store.ledger.wallet(ACCOUNT, NOW), undefined)
      const grant = sampleCredit('1', { note: 'trial', expires_at: NOW + DAY })
      const all = await Promise.all(racers.map((one) => on(one, (ledger) => ledger.credit(grant))))
      assertOneWon(all.map((one) => one !== undefined))
      const posted = all.find((one) => one !== undefined)
      const id = posted?.transaction_id ?? ''
      assert.deepEqual(posted, {
        account_id: ACCOUNT,
        transaction_id: id,
        amount: 100,
        balance: 100,
        available: 100,
        low: null,
      })
      assert.equal(await on(store, (ledger) => ledger.credit({ ...grant, amount: 5 })), undefined)
      await creditAll(store, sampleTopup('1', { amount: 7 }))
      assert.deepEqual(await balances(store), { paid: 7, granted: 100, available: 107 })
      assert.deepEqual(await store.ledger.getCredit(ACCOUNT, id), {
        id,
        account_id: ACCOUNT,
        kind: 'grant',
        amount: 100,
        remaining: 100,
        held: 0,
        spent: 0,
        expired: 0,
        clawed: 0,
        expires_at: NOW + DAY,
        note: 'trial',
        revoked_at: null,
        created_at: NOW,
      })
      assert.equal(await store.ledger.getCredit(STRANGER, id), undefined)
      const expiring = await store.ledger.expiring(ACCOUNT, NOW, 10)
      assert.deepEqual(expiring, [{ amount: 100, expires_at: NOW + DAY }])
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: amounts are positive integers, and no balance exceeds the largest exact one',
    async run({ open }) {
      const store = await open()
      for (const amount of [0, -1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
        const credit = sampleCredit('1', { amount })
        await assert.rejects(
          on(store, (ledger) => ledger.credit(credit)),
          TypeError,
        )
        await assert.rejects(hold(store, [sampleHold('a', { amount })]), TypeError)
      }
      await creditAll(store, sampleCredit('1', { amount: MAX_MICROS - 1 }))
      await assert.rejects(
        on(store, (ledger) => ledger.credit(sampleTopup('2', { amount: 2 }))),
        RangeError,
      )
      await creditAll(store, sampleTopup('3', { amount: 1 }))
      assert.deepEqual(await balances(store), {
        paid: 1,
        granted: MAX_MICROS - 1,
        available: MAX_MICROS,
      })
      const most = sampleHold('a', { amount: MAX_MICROS })
      assert.equal((await hold(store, [most])).held, true)
      assert.deepEqual(await balances(store), { held: MAX_MICROS })
      assert.equal((await capture(store, 'a', MAX_MICROS - 2))?.captured, MAX_MICROS - 2)
      assert.deepEqual(await balances(store), { paid: 1, granted: 1, available: 2 })
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: a wallet keeps its currency',
    async run({ open }) {
      const store = await open()
      await creditAll(store, sampleCredit('1'))
      const euros = sampleCredit('2', { currency: 'EUR' })
      await assert.rejects(
        on(store, (ledger) => ledger.credit(euros)),
        TypeError,
      )
    },
  },
]

const holdCases: readonly PlatformCase[] = [
  {
    name: 'ledger: holds take what expires first, granted before paid, then the oldest',
    async run({ open }) {
      const store = await open()
      const posted = await creditAll(
        store,
        sampleTopup('1', { amount: 10 }),
        sampleCredit('2', { amount: 10 }),
        sampleTopup('3', { amount: 10, expires_at: NOW + 2 * DAY }),
        sampleCredit('4', { amount: 10 }),
        sampleTopup('5', { amount: 10, expires_at: NOW + DAY }),
        sampleCredit('6', { amount: 10, expires_at: NOW + 2 * DAY }),
      )
      const ids = posted.map(({ transaction_id }) => transaction_id)
      const order = [5, 6, 3, 2, 4, 1]
      for (const [index, place] of order.entries()) {
        const held = await hold(store, [sampleHold(`${index}`, { amount: 10 })])
        assert.equal(held.held, true)
        const all = await lotsOf(store, ...ids)
        assert.deepEqual(all[place - 1], [0, 10, 0, 0], `the ${index + 1}. takes ${place}`)
      }
      assert.equal((await hold(store, [sampleHold('more', { amount: 1 })])).held, false)
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: a hold takes from many small credits, and what is captured of it is what it took first',
    async run({ open }) {
      const store = await open()
      const many = Array.from({ length: 130 }, (_, at) =>
        sampleCredit(`${at}`, { amount: 1, expires_at: NOW + DAY + at }),
      )
      const posted = await store.write(async (tx) => {
        const ids: string[] = []
        for (const one of many) ids.push((await tx.ledger.credit(one))?.transaction_id ?? '')
        return ids
      })
      assert.equal((await hold(store, [sampleHold('a', { amount: 129 })])).held, true)
      assert.equal((await capture(store, 'a', 100))?.captured, 100)
      const all = await lotsOf(store, ...posted)
      assert.deepEqual(
        all.map(([remaining, held, spent]) => `${remaining} ${held} ${spent}`),
        many.map((_, at) => (at < 100 ? '0 0 1' : '1 0 0')),
      )
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: works of one call are held together or not at all',
    async run({ open }) {
      const store = await open()
      const three = ['a', 'b', 'c'].map((id) => sampleHold(id, { amount: 40 }))
      assert.deepEqual(await hold(store, three), {
        held: false,
        source: 'wallet',
        key_id: null,
        required: 120,
        available: 0,
        debt: 0,
        resets_at: null,
        low: null,
      })
      await creditAll(store, sampleCredit('1', { amount: 119 }))
      const refused = await hold(store, three)
      assert.deepEqual([refused.held, refused.required], [false, 120])
      assert.deepEqual(await balances(store), { granted: 119, available: 119 })
      assert.deepEqual(await history(store), ['grant 119'])
      assert.equal(await store.ledger.getHold(work('a')), undefined)
      await creditAll(store, sampleCredit('2', { amount: 1 }))
      assert.deepEqual(await hold(store, three), { held: true, required: 120, low: null })
      assert.deepEqual(await balances(store), { held: 120 })
      assert.deepEqual((await history(store)).slice(2), Array(3).fill('hold 0 held 40'))
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: work that is held or captured is skipped before the balance is looked at; released work may be held again',
    async run({ open }) {
      const store = await open()
      await creditAll(store, sampleCredit('1', { amount: 20 }))
      const [a, b] = [sampleHold('a'), sampleHold('b')]
      assert.deepEqual(await hold(store, [a, b, a]), { held: true, required: 20, low: null })
      assert.deepEqual(await hold(store, [b, a]), { held: true, required: 0, low: null })
      await capture(store, 'a')
      assert.deepEqual(await hold(store, [a]), { held: true, required: 0, low: null })
      await release(store, 'b')
      const again = { ...b, id: 'hold_b_again' }
      assert.deepEqual(await hold(store, [again]), { held: true, required: 10, low: null })
      assert.equal((await store.ledger.getHold(work('b')))?.id, 'hold_b_again')
      assert.equal((await capture(store, 'b'))?.captured, 10)
      // The same work of another account is other work.
      assert.equal((await hold(store, [{ ...a, account_id: STRANGER }])).held, false)
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: of racers for the last credit one holds it, and for one operation one hold is made',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      await creditAll(store, sampleCredit('1', { amount: 15 }))
      const outcomes = await Promise.all(
        racers.map((one, at) => hold(one, [sampleHold(`of_${at}`)])),
      )
      assertOneWon(outcomes.map(({ held }) => held))
      const same = await Promise.all(
        racers.map((one, at) => hold(one, [sampleHold('same', { id: `${at}`, amount: 5 })])),
      )
      assert.deepEqual(
        same.map(({ required }) => required).sort((a, b) => a - b),
        [0, 5],
      )
      assert.deepEqual(await balances(store), { held: 15 })
      await assertVerified(store)
    },
  },
]

const endCases: readonly PlatformCase[] = [
  {
    name: 'ledger: a capture takes no more than was held and returns the rest; repeated, it answers the same',
    async run({ open }) {
      const store = await open()
      await creditAll(store, sampleCredit('1', { amount: 30 }))
      await hold(store, [sampleHold('a'), sampleHold('b'), sampleHold('c')])
      const first = await capture(store, 'a', 4)
      assert.deepEqual([first?.ended, first?.captured, first?.hold.state], [true, 4, 'captured'])
      assert.deepEqual(await store.ledger.getHold(work('a')), first?.hold)
      const second = await capture(store, 'a', 9)
      assert.deepEqual([second?.ended, second?.captured], [false, 4])
      const released = await release(store, 'a')
      assert.deepEqual([released?.ended, released?.captured], [false, 4])
      assert.equal((await capture(store, 'b', 11))?.captured, 10)
      assert.equal((await capture(store, 'c', 0))?.captured, 0)
      assert.equal(await capture(store, 'never'), undefined)
      assert.deepEqual(await balances(store), { granted: 16, available: 16 })
      assert.deepEqual((await history(store)).slice(4), [
        'capture -4 held -10',
        'capture -10 held -10',
        'capture 0 held -10',
      ])
      for (const amount of [-1, 0.5, Number.NaN]) {
        await hold(store, [sampleHold('d')])
        await assert.rejects(capture(store, 'd', amount), TypeError)
      }
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: a release returns all of a hold, once; a capture after it captures nothing',
    async run({ open }) {
      const store = await open()
      await creditAll(store, sampleCredit('1', { amount: 10 }))
      await hold(store, [sampleHold('a')])
      const first = await release(store, 'a')
      assert.deepEqual([first?.ended, first?.captured, first?.hold.state], [true, 0, 'released'])
      assert.deepEqual(await balances(store), { granted: 10, available: 10 })
      const again = await release(store, 'a')
      assert.deepEqual([again?.ended, again?.hold.state], [false, 'released'])
      const late = await capture(store, 'a')
      assert.deepEqual([late?.ended, late?.captured], [false, 0])
      assert.equal(await release(store, 'never'), undefined)
      assert.deepEqual(await history(store), ['grant 10', 'hold 0 held 10', 'release 0 held -10'])
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: of a capture, a release and the end of the deadline one ends a hold',
    async run(harness) {
      const racers = await openRacers(harness)
      const [one, other] = racers
      await creditAll(one, sampleCredit('1', { amount: 100 }))
      for (const round of ['a', 'b', 'c', 'd']) {
        await hold(one, [sampleHold(round)])
        const [captured, released, expired] = await Promise.all([
          capture(one, round, 3, NOW + DAY),
          release(other, round, NOW + DAY),
          on(one, (ledger) => ledger.expireHolds(NOW + DAY, 10)),
        ])
        assertOneWon([captured?.ended === true, released?.ended === true, expired.length > 0])
        const ended = await one.ledger.getHold(work(round))
        assert.deepEqual([captured?.hold.state, released?.hold.state], Array(2).fill(ended?.state))
      }
      await assertVerified(one)
    },
  },
  {
    name: 'ledger: a hold ends with its deadline, at its instant and not before; it moves further ahead only',
    async run({ open }) {
      const store = await open()
      const expire = (now: number, limit = 10) =>
        on(store, (ledger) => ledger.expireHolds(now, limit))
      const extend = (id: string, deadline: number) =>
        on(store, (ledger) => ledger.extend(work(id), deadline))
      await creditAll(store, sampleCredit('1'), sampleCredit('2', { account_id: STRANGER }))
      await hold(store, [
        sampleHold('a', { deadline_at: NOW + HOUR }),
        sampleHold('b', { deadline_at: NOW + 2 * HOUR }),
        sampleHold('c', { deadline_at: NOW + 3 * HOUR }),
      ])
      await hold(store, [
        sampleHold('a', { id: 'other', account_id: STRANGER, deadline_at: NOW + 2 * HOUR }),
      ])
      assert.equal(await extend('a', NOW + 4 * HOUR), true)
      assert.equal(await extend('a', NOW), true)
      assert.equal(await extend('never', NOW), false)
      assert.deepEqual(await expire(NOW + 2 * HOUR - 1), [])
      const first = await expire(NOW + 2 * HOUR, 1)
      const second = await expire(NOW + 2 * HOUR)
      const ended = [...first, ...second].map(({ hold: { id, state } }) => `${id} ${state}`)
      assert.deepEqual([first.length, ...ended.sort()], [1, 'hold_b expired', 'other expired'])
      assert.equal(await extend('b', NOW + DAY), false)
      assert.equal((await capture(store, 'b'))?.captured, 0)
      assert.equal((await expire(NOW + 4 * HOUR - 1)).length, 1)
      assert.equal((await expire(NOW + 4 * HOUR)).length, 1)
      assert.deepEqual(await balances(store), { granted: 100, available: 100 })
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: what rolls back was never held, captured or credited',
    async run({ open }) {
      const store = await open()
      await creditAll(store, sampleCredit('1'))
      await hold(store, [sampleHold('a')])
      const failed = on(store, async (ledger) => {
        await ledger.credit(sampleCredit('2'))
        await ledger.capture(work('a'), () => ({ amount: 5, quantity: 1 }), NOW)
        await ledger.hold([sampleHold('b')], [])
        throw new Error('no')
      })
      await assert.rejects(failed, /no/)
      assert.deepEqual(await balances(store), { granted: 90, held: 10, available: 90 })
      assert.deepEqual(await history(store), ['grant 100', 'hold 0 held 10'])
      await creditAll(store, sampleCredit('2'))
      await assertVerified(store)
    },
  },
]

/** Credit and holds: each verb, its bounds, and who wins where two happen at once. */
export const ledgerCases: readonly PlatformCase[] = [...creditCases, ...holdCases, ...endCases]
