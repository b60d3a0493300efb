import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { LedgerWrites } from '../../plugins/platform/contract/ledger.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { ledgerWrites } from '../../plugins/platform/ledger/ledger.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { namePlatformTables } from '../../plugins/platform/sql/tables.ts'
import { openSqlite } from '../../plugins/store/sql/sqlite.ts'
import { creditAll, sampleCredit, sampleHold } from '../platform/ledger-samples.ts'
import { migratePlatform, platformOver } from '../platform/over-client.ts'
import { beginOn, poolOn } from '../support/postgres-clients.ts'
import { startPostgres } from '../support/postgres.ts'
import { sized } from '../support/soak.ts'

const ROUNDS = sized(3, 8, 100)
const SPENDERS = 64
const SUFFICES_FOR = 40
const PRICE = 10

/** One way to run a call of the ledger in a transaction of its own. */
type Runner = <T>(run: (ledger: LedgerWrites) => Promise<T>) => Promise<T>

const inUnit =
  (store: PlatformStore): Runner =>
  (run) =>
    store.write((tx) => run(tx.ledger))

/** Runs one call for each of a list at once, in turns by each of the runners. */
function race<T, R>(
  runners: readonly Runner[],
  list: readonly T[],
  run: (ledger: LedgerWrites, one: T) => Promise<R>,
): Promise<readonly R[]> {
  return Promise.all(
    list.map((one, at) => {
      const runner = runners[at % runners.length]
      if (runner === undefined) throw new Error('there is a runner')
      return runner((ledger) => run(ledger, one))
    }),
  )
}

async function spend(
  t: Test,
  store: PlatformStore,
  runners: readonly Runner[],
  round: number,
): Promise<void> {
  const account_id = `acc_${round}`
  const now = Date.now()
  const own = { account_id, now }
  // Of several credits, so that holds are made of parts of them.
  const parts = Array.from({ length: 5 }, (_, at) =>
    sampleCredit(`${round} ${at}`, { ...own, amount: (SUFFICES_FOR * PRICE) / 5 }),
  )
  await creditAll(store, ...parts)
  const spenders = Array.from({ length: SPENDERS }, (_, at) => `${at}`)
  const outcomes = await race(runners, spenders, (ledger, id) =>
    ledger.hold([sampleHold(id, { ...own, id: `${account_id} ${id}`, amount: PRICE })], []),
  )
  const held = spenders.filter((_, at) => outcomes[at]?.held)
  t.equal(held.length, SUFFICES_FOR, `round ${round}: as many are held as the wallet suffices for`)
  const refused = outcomes.filter((one) => !one.held)
  t.ok(refused.every(({ source, available }) => source === 'wallet' && available === 0))
  const wallet = await store.ledger.wallet(account_id, now)
  t.same([wallet?.available, wallet?.held], [0, SUFFICES_FOR * PRICE])

  // Each is captured, released and held again at once, from different connections.
  const calls = held.flatMap((id) => [0, 1, 2].map((call) => ({ id, call })))
  const ended = await race(runners, calls, async (ledger, { id, call }) => {
    const work = { account_id, operation_id: id }
    if (call === 0) return ledger.capture(work, () => ({ amount: 7, quantity: 1 }), now)
    if (call === 1) return ledger.release(work, now)
    await ledger.hold([sampleHold(id, { ...own, id: `${account_id} ${id} again` })], [])
    return undefined
  })
  for (const id of held) {
    const ends = calls.flatMap((call, at) =>
      call.id === id && ended[at]?.ended ? [ended[at]] : [],
    )
    const captures = ends.filter((one) => one?.captured === 7)
    t.ok(ends.length >= 1 && captures.length <= 1, `it ended, and was charged at most once`)
  }
  const charged = await store.ledger.usageTotals({ account_id, from: '0', to: '9' })
  const after = await store.ledger.wallet(account_id, now)
  t.equal(after?.balance, SUFFICES_FOR * PRICE - charged.charged)
  t.ok((after?.available ?? -1) >= 0)
}

await t.test('SQLite: of 64 spenders on two connections 40 succeed', async (t) => {
  const file = join(t.testdir(), 'keyhook.sqlite')
  const clients = [await openSqlite(file), await openSqlite(file)] as const
  t.teardown(() => Promise.all(clients.map((client) => client.close())))
  await migratePlatform(clients[0])
  const stores = [await platformOver(clients[0]), await platformOver(clients[1])] as const
  for (let round = 1; round <= ROUNDS; round += 1) {
    await spend(t, stores[0], stores.map(inUnit), round)
  }
  t.same((await stores[0].ledger.verify(null)).differences, [])
})

await t.test(
  'PostgreSQL: of 64 spenders in units and joined transactions 40 succeed',
  async (t) => {
    const server = await startPostgres()
    t.teardown(() => server.stop())
    const url = await server.createDatabase()
    const tablePrefix = ''
    const one = await openPlatformStore(url, { tablePrefix })
    const other = await openPlatformStore(url, { tablePrefix })
    t.teardown(() => Promise.all([one.store.close(), other.store.close()]))
    const pool = poolOn(t, url, { max: 20 })
    const { client } = one

    /** In a transaction of an embedder, which no lock of units of work holds back. */
    const joined: Runner = async (run) => {
      const transaction = await beginOn(pool)
      try {
        const query = client.join(transaction.handle)
        const answer = await run(
          ledgerWrites({ query, t: namePlatformTables(tablePrefix), dialect: client.dialect }),
        )
        await transaction.commit()
        return answer
      } catch (cause) {
        await transaction.rollback()
        throw cause
      }
    }
    const runners = [inUnit(one.store), joined, inUnit(other.store), joined]
    for (let round = 1; round <= ROUNDS; round += 1) {
      await spend(t, one.store, runners, round)
    }
    t.same((await one.store.ledger.verify(null)).differences, [])
  },
)
