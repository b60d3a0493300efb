import assert from 'node:assert/strict'
import { DAY, HOUR } from '../../lib/time.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
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
  on,
  release,
  sampleCredit,
  sampleHold,
  sampleTopup,
  work,
} from './ledger-samples.ts'

const lots = async (store: PlatformStore, ...ids: readonly string[]) => {
  const credits = await Promise.all(ids.map((id) => store.ledger.getCredit(ACCOUNT, id)))
  return credits.map((credit) => {
    const { remaining = -1, held = -1, spent = -1, expired = -1 } = credit ?? {}
    return [remaining, held, spent, expired]
  })
}

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
        const all = await lots(store, ...ids)
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
      const all = await lots(store, ...posted)
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
      assert.deepEqual(await lots(store, one?.transaction_id ?? ''), [[0, 10, 0, 90]])
      // What is held was spent when it was held; what comes back of it has expired.
      const ended = await capture(store, 'a', 4, NOW + 2 * DAY)
      assert.equal(ended?.captured, 4)
      assert.deepEqual(await lots(store, one?.transaction_id ?? ''), [[0, 0, 4, 96]])
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

const listCases: readonly PlatformCase[] = [
  {
    name: 'ledger: transactions are listed newest first, page by page, by kind, app, key and time',
    async run({ open }) {
      const store = await open()
      const list = async (changes: object, limit = 100) => {
        const none = { kind: null, app_id: null, key_id: null, from: null, to: null, after: null }
        const asked = { account_id: ACCOUNT, limit, ...none, ...changes }
        const { rows, more } = await store.ledger.transactions(asked)
        return { seqs: rows.map(({ seq }) => seq), more, rows }
      }
      const [credited] = await creditAll(store, sampleCredit('1'), sampleTopup('2'))
      for (const [at, changes] of [
        { app_id: 'app_1' },
        { app_id: 'app_2', key_id: 'key_1' },
        { app_id: null, key_id: 'key_2' },
      ].entries()) {
        await hold(store, [sampleHold(`${at}`, { now: NOW + at + 1, ...changes })])
        await capture(store, `${at}`, 3, NOW + at + 1)
      }
      await creditAll(store, sampleCredit('3', { account_id: STRANGER }))
      const first = await list({}, 3)
      assert.deepEqual([first.seqs, first.more], [[8, 7, 6], true])
      const rest = await list({ after: '6' })
      assert.deepEqual([rest.seqs, rest.more], [[5, 4, 3, 2, 1], false])
      assert.deepEqual((await list({ kind: 'capture' })).seqs, [8, 6, 4])
      assert.deepEqual((await list({ app_id: 'app_2' })).seqs, [6, 5])
      assert.deepEqual((await list({ key_id: 'key_2', kind: 'hold' })).seqs, [7])
      assert.deepEqual((await list({ from: NOW + 2 })).seqs, [8, 7, 6, 5])
      assert.deepEqual((await list({ to: NOW + 2 })).seqs, [4, 3, 2, 1])
      assert.deepEqual((await list({ from: NOW + 2, to: NOW + 3 })).seqs, [6, 5])
      assert.deepEqual((await list({ from: NOW + 9 })).seqs, [])
      const [captured] = first.rows
      const { id: _, key: __, ...shown } = captured ?? { id: '', key: '' }
      assert.deepEqual(shown, {
        account_id: ACCOUNT,
        seq: 8,
        at: NOW + 3,
        kind: 'capture',
        reverses: null,
        ref_type: 'hold',
        ref_id: 'hold_2',
        operation: 'edits.create',
        meter: 'edits',
        quantity: 1,
        app_id: null,
        key_id: 'key_2',
        price_version: 'v1',
        amount: -3,
        held: -10,
        debt: 0,
        balance_after: 191,
        available_after: 191,
        note: null,
        actor: { type: 'system', id: null },
        entries: [
          { account: 'held', amount: -10 },
          { account: 'revenue', amount: 3 },
          { account: 'granted', amount: 7 },
        ],
      })
      const id = credited?.transaction_id ?? ''
      assert.equal((await store.ledger.transaction(ACCOUNT, id))?.kind, 'grant')
      assert.equal(await store.ledger.transaction(STRANGER, id), undefined)
    },
  },
  {
    name: 'ledger: usage is counted by day, app, key, meter and operation, as it is captured',
    async run({ open }) {
      const store = await open()
      await creditAll(store, sampleCredit('1', { amount: 1000 }))
      const upload = { operation: 'files.upload', meter: 'bytes', quantity: 500, amount: 50 }
      await hold(store, [sampleHold('a', { key_id: 'key_1' }), sampleHold('b', upload)])
      await hold(store, [sampleHold('c', { app_id: null }), sampleHold('d')])
      await capture(store, 'a', 6)
      await capture(store, 'b', 40, NOW + DAY, 400)
      await capture(store, 'c', 10, NOW + DAY)
      await release(store, 'd')
      const days = { account_id: ACCOUNT, from: '2023-11-14', to: '2023-11-15' }
      const usage = async (by: 'day' | 'app' | 'key' | 'meter' | 'operation') => {
        const { rows } = await store.ledger.usage({ ...days, by, after: null, limit: 10 })
        return rows.map(
          ({ group, count, quantity, charged }) => `${group} ${count} ${quantity} ${charged}`,
        )
      }
      assert.deepEqual(await usage('day'), ['2023-11-14 1 null 6', '2023-11-15 2 null 50'])
      assert.deepEqual(await usage('app'), [' 1 null 10', 'app_1 2 null 46'])
      assert.deepEqual(await usage('key'), [' 2 null 50', 'key_1 1 null 6'])
      assert.deepEqual(await usage('meter'), ['bytes 1 400 40', 'edits 2 2 16'])
      assert.deepEqual(await usage('operation'), ['edits.create 2 2 16', 'files.upload 1 400 40'])
      assert.deepEqual(await store.ledger.usageTotals(days), { count: 3, charged: 56 })
      const page = await store.ledger.usage({ ...days, by: 'day', after: null, limit: 1 })
      assert.deepEqual([page.rows[0]?.group, page.more], ['2023-11-14', true])
      const next = await store.ledger.usage({ ...days, by: 'day', after: '2023-11-14', limit: 1 })
      assert.deepEqual([next.rows[0]?.group, next.more], ['2023-11-15', false])
      const none = { account_id: STRANGER, from: '2023-11-14', to: '2023-11-15' }
      assert.deepEqual(await store.ledger.usageTotals(none), { count: 0, charged: 0 })
      await assertVerified(store)
    },
  },
  {
    name: 'ledger: a price version keeps its body',
    async run({ open }) {
      const store = await open()
      const version = { version: '2026-12', sha256: 'ab', body: '{}', first_seen: NOW }
      const keep = (changes: object) =>
        on(store, (ledger) => ledger.keepPriceVersion({ ...version, ...changes }))
      assert.equal(await keep({}), true)
      assert.equal(await keep({ first_seen: NOW + 1 }), true)
      assert.equal(await keep({ sha256: 'cd', body: '[]' }), false)
      assert.deepEqual(await store.ledger.priceVersions(), [version])
    },
  },
]

/** The ledger: each verb, its bounds, and who wins where two happen at once. */
export const ledgerCases: readonly PlatformCase[] = [
  ...creditCases,
  ...holdCases,
  ...endCases,
  ...expiryCases,
  ...lowCases,
  ...listCases,
]
