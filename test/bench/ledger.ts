import type { Query, SqlClient } from '../../plugins/store/sql/client.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'

/** Whose the ledger is. */
export const SPENDER = 'acc_0'

const MICROS = 2 ** 50

/** Credit that no run uses up. */
export async function addCredit(store: PlatformStore): Promise<void> {
  await store.write((tx) =>
    tx.ledger.credit({
      account_id: SPENDER,
      currency: 'USD',
      kind: 'grant',
      origin_id: 'bench',
      amount: MICROS,
      from_processor: 0,
      expires_at: null,
      note: null,
      actor: { type: 'operator', id: null },
      now: Date.now(),
    }),
  )
}

/** Columns that a copy has of its own. */
const OWN = {
  ledger_transactions: { id: `'bench_' || i`, key: `'bench:' || i`, seq: 'i + 1' },
  ledger_entries: { transaction_id: `'bench_' || i` },
} as const

/** Copies of one unit: a statement ends long before it is given up. */
const BATCH = 20_000

async function copy(query: Query, first: number, last: number): Promise<void> {
  for (const [table, own] of Object.entries(OWN)) {
    const of = table === 'ledger_entries' ? 'transaction_id' : 'id'
    const [row] = await query(`SELECT * FROM keyhook_${table} LIMIT 1`)
    const columns = Object.keys(row ?? {})
    const values = columns.map((column) => own[column as keyof typeof own] ?? `one.${column}`)
    await query(
      `INSERT INTO keyhook_${table} (${columns.join(', ')})
       WITH RECURSIVE n (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last})
       SELECT ${values.join(', ')} FROM n, keyhook_${table} one WHERE one.${of} NOT LIKE 'bench%'`,
    )
  }
  await query(`UPDATE keyhook_wallets SET transactions = ${last + 1} WHERE account_id = $1`, [
    SPENDER,
  ])
}

/** A ledger of so many entries: the transaction of its credit, copied, of two entries each. */
export async function addEntries(
  store: PlatformStore,
  client: SqlClient,
  entries: number,
): Promise<void> {
  const now = Date.now()
  await store.write((tx) =>
    tx.accounts.insert({
      id: SPENDER,
      name: 'Bench',
      plan: 'pro',
      key_limit: null,
      suspended_at: null,
      created_at: now,
      updated_at: now,
    }),
  )
  await addCredit(store)
  const copies = entries / 2 - 1
  for (let first = 1; first <= copies; first += BATCH) {
    const last = Math.min(copies, first + BATCH - 1)
    await client.transaction((query) => copy(query, first, last))
  }
}
