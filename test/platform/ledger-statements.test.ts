import { join } from 'node:path'
import t from 'tap'
import type { Query } from '../../plugins/store/sql/client.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { ACCOUNT } from '../../plugins/store/conformance/samples.ts'
import {
  NOW,
  capture,
  creditAll,
  hold,
  on,
  release,
  sampleCharge,
  sampleCredit,
  sampleHold,
  sampleTopup,
} from './ledger-samples.ts'
import { noting } from './noting.ts'
import { migratePlatform, platformOver } from './over-client.ts'

const BUDGETS = [{ key_id: 'key_1', monthly_micros: 10_000 }]

await t.test('SQLite: what a call costs does not grow with the ledger', async (t) => {
  const client = await openSqlite(join(t.testdir(), 'keyhook.sqlite'))
  t.teardown(() => client.close())
  await migratePlatform(client)
  const statements: Parameters<Query>[] = []
  const store = await platformOver(noting(client, statements))
  const [topup] = await creditAll(store, sampleTopup('1', { amount: 900 }), sampleCredit('2'))

  /** Runs a call; answers how many statements it took. */
  async function countOf(call: () => Promise<unknown>): Promise<number> {
    statements.length = 0
    await call()
    for (const [sql, bind] of statements) {
      const plan = await client.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, bind)
      const scans = plan.filter(({ detail }) => /^SCAN (?!one|CONSTANT|json_each)/.test(detail))
      t.same(
        scans.map(({ detail }) => detail),
        [],
        sql,
      )
    }
    return statements.length
  }

  const works = (...ids: readonly string[]) => ids.map((id) => sampleHold(id))
  const holdOne = await countOf(() => hold(store, works('a'), BUDGETS))
  const holdTen = await countOf(() =>
    hold(store, works('b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'), BUDGETS),
  )
  t.equal(holdTen, holdOne, 'ten works are held by as many statements as one')
  t.equal(holdOne, 12)
  t.equal(await countOf(() => capture(store, 'a', 5)), 11)
  t.equal(await countOf(() => release(store, 'b')), 10)
  t.equal(await countOf(() => on(store, (ledger) => ledger.credit(sampleCredit('3')))), 7)
  const credit = topup?.transaction_id ?? ''
  const refund = (amount: number) =>
    on(store, (ledger) => ledger.reconcile(sampleCharge(credit, [{ amount, active: true }]), NOW))
  for (const amount of [10, 0]) await countOf(() => refund(amount))
  for (const now of [NOW, NOW + 2 * 86_400_000]) {
    await countOf(() => on(store, (ledger) => ledger.expireHolds(now, 100)))
    await countOf(() => on(store, (ledger) => ledger.expireLots(now, 100)))
  }
  const { available } = (await store.ledger.wallet(ACCOUNT, NOW)) ?? {}
  t.equal(available, 1095, 'all of them did their work')
})
