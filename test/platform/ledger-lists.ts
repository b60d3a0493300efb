import assert from 'node:assert/strict'
import { DAY } from '../../lib/time.ts'
import { ACCOUNT, STRANGER } from '../../plugins/store/conformance/samples.ts'
import type { PlatformCase } from './harness.ts'
import {
  NOW,
  assertVerified,
  capture,
  creditAll,
  hold,
  on,
  release,
  sampleCredit,
  sampleHold,
  sampleTopup,
} from './ledger-samples.ts'

/** Lists of transactions, usage and price versions. */
export const ledgerListCases: readonly PlatformCase[] = [
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
