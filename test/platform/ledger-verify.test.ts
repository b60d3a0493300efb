import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { LedgerCheck } from '../../plugins/platform/contract/ledger.ts'
import {
  LEDGER_ACCOUNTS,
  LEDGER_CHECKS,
  TRANSACTION_KINDS,
} from '../../plugins/platform/contract/ledger.ts'
import { DAY } from '../../lib/time.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { ledgerReads } from '../../plugins/platform/ledger/ledger.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { namePlatformTables } from '../../plugins/platform/sql/tables.ts'
import { ACCOUNT, STRANGER } from '../../plugins/store/conformance/samples.ts'
import type { Query, SqlClient } from '../../plugins/store/sql/client.ts'
import { startPostgres } from '../support/postgres.ts'
import {
  NOW,
  OPERATOR,
  creditAll,
  hold,
  on,
  sampleCharge,
  sampleCredit,
  sampleHold,
  sampleTopup,
} from './ledger-samples.ts'

const BUDGETS = [{ key_id: 'key_1', monthly_micros: 500 }]

/** A ledger in which every kind of transaction occurs, of two accounts. */
async function fill(store: PlatformStore): Promise<void> {
  for (const account_id of [ACCOUNT, STRANGER]) {
    const own = (id: string) => `${account_id}_${id}`
    const [topup, , grant] = await creditAll(
      store,
      sampleTopup(own('1'), { account_id }),
      sampleCredit(own('2'), { account_id, kind: 'monthly_credit', from_processor: 40 }),
      sampleCredit(own('3'), { account_id, amount: 9 }),
      sampleCredit(own('4'), { account_id, amount: 50, expires_at: NOW + DAY }),
    )
    const budgets = BUDGETS.map(({ key_id, ...budget }) => ({ key_id: own(key_id), ...budget }))
    const held = ['a', 'b', 'c', 'd'].map((id) =>
      sampleHold(id, { account_id, id: own(id), amount: 30 }),
    )
    await hold(store, held, budgets)
    const work = (operation_id: string) => ({ account_id, operation_id })
    await on(store, (ledger) => ledger.capture(work('a'), () => ({ amount: 20, quantity: 1 }), NOW))
    await on(store, (ledger) => ledger.release(work('b'), NOW))
    const credit = topup?.transaction_id ?? ''
    const refund = (...amounts: readonly number[]) =>
      on(store, (ledger) =>
        ledger.reconcile(
          sampleCharge(
            credit,
            amounts.map((amount) => ({ amount, active: true })),
            {
              account_id,
              charge_id: own('ch'),
            },
          ),
          NOW,
        ),
      )
    await refund(10)
    await refund(10, 60)
    await refund(10)
    await store.write(async (tx) => {
      const of = { processor: 'stripe', charge_id: own('ch') } as const
      const charge = { account_id, credit_id: credit, paid: 100, total: 100, created_at: NOW }
      await tx.payments.addCharge({ ...charge, processor: 'stripe', id: own('ch') })
      await tx.payments.putChargeItems([
        { ...of, id: own('re'), kind: 'refund', amount: 10, active: true },
        { ...of, id: own('dp'), kind: 'dispute', amount: 60, active: false },
      ])
    })
    const id = grant?.transaction_id ?? ''
    await on(store, (ledger) => ledger.revoke(account_id, id, OPERATOR, NOW))
    await on(store, (ledger) => ledger.expireLots(NOW + 2 * DAY, 10))
    await on(store, (ledger) =>
      ledger.charge({
        account_id,
        currency: 'USD',
        key: `hosting:${own('app')}:2023-11-16:egress_bytes:1`,
        operation: 'hosting.egress_bytes',
        meter: 'egress_bytes',
        quantity: 5,
        app_id: own('app'),
        note: '2023-11-16',
        amount: 1000,
        price_version: 'v1',
        now: NOW + 2 * DAY,
      }),
    )
    await creditAll(store, sampleCredit(own('5'), { account_id, amount: 5 }))
  }
}

const OF = `account_id = '${ACCOUNT}'`
const one = (table: string, where: string, id = 'id'): string =>
  `${id} = (SELECT MIN(${id}) FROM ${table} WHERE ${OF} AND ${where})`

/** Statements that each check must find; those of the tables that are append-only run without triggers. */
const FAULTS: Readonly<Record<LedgerCheck, readonly string[]>> = {
  transaction_sum: [
    `UPDATE ledger_entries SET amount = amount + 1 WHERE ledger = 'revenue' AND
      ${one('ledger_entries', `ledger = 'revenue'`, 'transaction_id')}`,
    // Of the whole it still sums to zero, but not of each of its lots.
    `UPDATE ledger_entries SET lot_id = NULL WHERE ledger = 'held' AND
      ${one('ledger_entries', `ledger = 'held'`, 'transaction_id')}`,
    `UPDATE ledger_entries SET account_id = '${STRANGER}' WHERE ledger = 'expired' AND ${OF}`,
  ],
  wallet_balance: [
    `UPDATE wallets SET paid = paid + 1, issued = issued - 1 WHERE ${OF}`,
    `DELETE FROM wallets WHERE ${OF}`,
  ],
  lot_balance: [
    `UPDATE lots SET held = held - 1, spent = spent + 1 WHERE ${one('lots', 'held > 0')}`,
    `UPDATE lots SET granted = granted + 1, spent = spent + 1 WHERE ${one('lots', 'TRUE')}`,
    `UPDATE lots SET from_processor = from_processor - 1
      WHERE ${one('lots', 'from_processor > 0')}`,
    `DELETE FROM lots WHERE ${OF}`,
  ],
  hold_lots: [
    `UPDATE hold_lots SET amount = amount + 1 WHERE hold_id =
      (SELECT MIN(id) FROM holds WHERE ${OF} AND state = 'open')`,
    `UPDATE hold_lots SET amount = amount + 1 WHERE hold_id =
      (SELECT MIN(id) FROM holds WHERE ${OF} AND state = 'captured')`,
    `DELETE FROM hold_lots WHERE hold_id =
      (SELECT MIN(id) FROM holds WHERE ${OF} AND state = 'released')`,
  ],
  hold_end: [
    `UPDATE holds SET state = 'released', captured = NULL WHERE ${OF} AND state = 'captured'`,
    `UPDATE holds SET captured = captured - 1 WHERE ${OF} AND state = 'captured'`,
    `UPDATE holds SET state = 'expired', ended_at = ${NOW} WHERE ${OF} AND state = 'open'`,
    `UPDATE holds SET state = 'open', ended_at = NULL WHERE ${OF} AND state = 'released'`,
    `UPDATE ledger_transactions SET ref_id = 'none' WHERE ${OF} AND kind = 'release'`,
  ],
  transaction_order: [
    `UPDATE ledger_transactions SET balance_after = balance_after + 1 WHERE ${OF} AND seq = 2`,
    `UPDATE ledger_transactions SET available_after = available_after + 1 WHERE ${OF} AND seq = 2`,
    `UPDATE ledger_transactions SET amount = amount + 1 WHERE ${OF} AND seq = 3`,
    `UPDATE ledger_transactions SET held = held + 1, debt = debt - 1 WHERE ${OF} AND seq = 4`,
    `UPDATE ledger_transactions SET at = at - 1 WHERE ${OF} AND seq = 3`,
    `UPDATE ledger_transactions SET seq = 1000 WHERE ${OF} AND kind = 'revoke'`,
    `UPDATE wallets SET transactions = transactions + 1 WHERE ${OF}`,
  ],
  reversal: [
    `UPDATE ledger_transactions SET reverses = NULL WHERE ${OF} AND kind = 'reinstatement'`,
    `UPDATE ledger_transactions SET reverses =
       (SELECT id FROM ledger_transactions WHERE ${OF} AND kind = 'topup')
      WHERE ${OF} AND kind = 'reinstatement'`,
    `UPDATE ledger_transactions SET amount = amount - 100 WHERE ${OF} AND kind = 'revoke'`,
    `UPDATE ledger_entries SET amount = amount - 1 WHERE ledger = 'processor' AND transaction_id =
       (SELECT id FROM ledger_transactions WHERE ${OF} AND kind = 'reinstatement')`,
  ],
  key_spending: [
    `UPDATE key_spending SET spent = spent - 1 WHERE ${OF}`,
    `UPDATE key_spending SET held = held + 1 WHERE ${OF}`,
    `DELETE FROM key_spending WHERE ${OF}`,
  ],
  usage_days: [
    `UPDATE usage_days SET charged = charged + 1 WHERE ${OF} AND operation = 'edits.create'`,
    `UPDATE usage_days SET day = '2023-11-13' WHERE ${OF} AND operation = 'edits.create'`,
    `DELETE FROM usage_days WHERE ${OF} AND operation = 'hosting.egress_bytes'`,
  ],
  hosting_charges: [
    `UPDATE hosting_charges SET charged = charged - 1 WHERE ${OF}`,
    `UPDATE hosting_charges SET parts = parts + 1 WHERE ${OF}`,
    `UPDATE hosting_charges SET day = '2023-11-15' WHERE ${OF}`,
    `DELETE FROM hosting_charges WHERE ${OF}`,
  ],
  charges: [
    `UPDATE charge_items SET active = 1 - active WHERE charge_id =
      (SELECT MIN(id) FROM charges WHERE ${OF})`,
    `UPDATE charge_items SET amount = amount + 1 WHERE kind = 'refund' AND charge_id =
      (SELECT MIN(id) FROM charges WHERE ${OF})`,
    `UPDATE charges SET credit_id = 'none' WHERE ${OF}`,
    `UPDATE charges SET total = total * 3 WHERE ${OF}`,
  ],
}

const TABLES = ['ledger_transactions', 'ledger_entries'] as const

/** Statements that let the rows be changed after all. */
const WITHOUT_TRIGGERS = {
  sqlite: TABLES.flatMap((table) => [
    `DROP TRIGGER ${table}_no_update`,
    `DROP TRIGGER ${table}_no_delete`,
  ]),
  postgres: TABLES.map((table) => `ALTER TABLE ${table} DISABLE TRIGGER USER`),
} as const

class Undone extends Error {}

/** Runs statements and leaves nothing of them behind. */
async function undone(client: SqlClient, run: (query: Query) => Promise<void>): Promise<void> {
  await client
    .transaction(async (query) => {
      await run(query)
      throw new Undone()
    })
    .catch((cause: unknown) => {
      if (!(cause instanceof Undone)) throw cause
    })
}

async function findsFaults(t: Test, place: string): Promise<void> {
  const { store, client } = await openPlatformStore(place, { tablePrefix: '' })
  t.teardown(() => store.close())
  await fill(store)
  await client.transaction(async (query) => {
    for (const account_id of [ACCOUNT, STRANGER]) {
      await query(
        `INSERT INTO hosting_charges VALUES
          ('${account_id}_app', '2023-11-16', 'egress_bytes', '${account_id}', 5, 1000, 1, 'v1', '{}')`,
      )
    }
  })
  const clean = await store.ledger.verify(null)
  t.same(clean.differences, [])
  const kinds = await client.read('SELECT DISTINCT kind FROM ledger_transactions')
  t.same(kinds.map(({ kind }) => String(kind)).sort(), TRANSACTION_KINDS.toSorted())
  const ledgers = await client.read('SELECT DISTINCT ledger FROM ledger_entries')
  t.same(ledgers.map(({ ledger }) => String(ledger)).sort(), LEDGER_ACCOUNTS.toSorted())
  const { accounts, lots, holds } = clean
  t.same({ accounts, lots, holds }, { accounts: 2, lots: 10, holds: 8 })

  for (const check of LEDGER_CHECKS) {
    for (const fault of FAULTS[check]) {
      await undone(client, async (query) => {
        for (const statement of WITHOUT_TRIGGERS[client.dialect.name]) await query(statement)
        await query(fault)
        const ledger = ledgerReads({ query, t: namePlatformTables(''), dialect: client.dialect })
        const { differences, differences_total } = await ledger.verify(ACCOUNT)
        const found = differences.filter((one) => one.check === check)
        t.ok(found.length > 0, `${check} finds: ${fault}`)
        t.ok(found.every(({ expected, found }) => expected !== found))
        t.equal(differences_total, differences.length)
        t.same((await ledger.verify('acc_none')).differences, [])
      })
    }
  }

  await undone(client, async (query) => {
    for (let at = 0; at < 60; at += 1) {
      await query(
        `INSERT INTO usage_days VALUES ('${ACCOUNT}', '2020-01-01', 'o', '${at}', '', '', 1, 1, 1)`,
      )
    }
    const ledger = ledgerReads({ query, t: namePlatformTables(''), dialect: client.dialect })
    const { differences, differences_total } = await ledger.verify(null)
    t.same(
      [differences.length, differences_total],
      [50, 180],
      'no more than 50 of a check are named',
    )
  })

  for (const table of TABLES) {
    for (const statement of [`UPDATE ${table} SET amount = amount`, `DELETE FROM ${table}`]) {
      await t.rejects(
        client.transaction((query) => query(statement)),
        /append-only/,
        statement,
      )
    }
  }
  t.same((await store.ledger.verify(null)).differences, [])
}

await t.test('SQLite: verify finds each planted fault, and entries never change', async (t) => {
  await findsFaults(t, join(t.testdir(), 'keyhook.sqlite'))
})

await t.test('PostgreSQL: verify finds each planted fault, and entries never change', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  await findsFaults(t, await server.createDatabase())
})
