import { isDeepStrictEqual } from 'node:util'
import type { ModelAccount } from './ledger-model.ts'
import { countOf, heldOf, monthOf } from './ledger-model.ts'
import type { LedgerWorld } from './ledger-world.ts'
import { BUDGETS, told } from './ledger-world.ts'

/** The first thing in which the rows of the accounts differ from the model. */
export async function compare(world: LedgerWorld): Promise<string | undefined> {
  const { client, model, now } = world
  for (const id of world.touched) {
    const account = model.of(id)
    const found = await rowsOf(world, id)
    const expected = expectedRows(world, account)
    for (const [what, value] of Object.entries(expected)) {
      const stored = found[what as keyof typeof found]
      if (!isDeepStrictEqual(stored, value)) {
        return `${what} of ${id} at ${now}: ${told({ expected: value, found: stored })}`
      }
    }
  }
  const unbalanced = await client.read(
    `SELECT made.id FROM keyhook_ledger_transactions made
     JOIN keyhook_ledger_entries entry ON entry.transaction_id = made.id
     WHERE ${client.dialect.among('made.account_id', '$1')}
     GROUP BY made.id HAVING SUM(entry.amount) <> 0`,
    [JSON.stringify([...world.touched])],
  )
  return unbalanced.length === 0 ? undefined : `transactions do not balance: ${told(unbalanced)}`
}

function expectedRows({ model, now }: LedgerWorld, account: ModelAccount) {
  const ofSource = (source: string): number =>
    account.lots
      .filter((lot) => lot.source === source && lot.expires_at > now)
      .reduce((sum, lot) => sum + countOf(lot, 'left'), 0)
  const held = account.lots.reduce((sum, lot) => sum + heldOf(lot), 0)
  const keys = BUDGETS.map(({ key_id }) => `${key_id} of ${account.id}`)
  return {
    wallet: account.exists
      ? {
          paid: ofSource('paid'),
          granted: ofSource('granted'),
          held,
          debt: account.debt,
          available: model.available(account, now),
          low_balance: account.low_balance,
          isLow: account.isLow,
        }
      : undefined,
    transactions: account.transactions,
    lots: account.lots.map((lot) =>
      [
        lot.source,
        lot.micros.length,
        countOf(lot, 'left'),
        heldOf(lot),
        countOf(lot, 'spent'),
        countOf(lot, 'expired'),
        countOf(lot, 'clawed'),
        lot.expires_at,
      ].join(' '),
    ),
    holds: account.holds.map(({ asked, state, captured, deadline_at }) =>
      [asked.operation_id, state, captured, deadline_at].join(' '),
    ),
    budgets: keys.map((key) => model.used(key, monthOf(now))),
    usage: { count: account.charges, charged: account.charged },
  }
}

async function rowsOf({ client, store, now }: LedgerWorld, account_id: string) {
  const { ledger } = store
  const wallet = await ledger.wallet(account_id, now)
  const [counted] = await client.read(
    'SELECT count(*) AS count FROM keyhook_ledger_transactions WHERE account_id = $1',
    [account_id],
  )
  const lots = await client.read('SELECT * FROM keyhook_lots WHERE account_id = $1 ORDER BY seq', [
    account_id,
  ])
  const holds = await client.read(
    'SELECT * FROM keyhook_holds WHERE account_id = $1 ORDER BY seq',
    [account_id],
  )
  const keys = BUDGETS.map(({ key_id }) => `${key_id} of ${account_id}`)
  const spending = await ledger.keySpending(keys, now)
  const columns = ['granted', 'remaining', 'held', 'spent', 'expired', 'clawed', 'expires_at']
  return {
    wallet: wallet && {
      paid: wallet.paid,
      granted: wallet.granted,
      held: wallet.held,
      debt: wallet.debt,
      available: wallet.available,
      low_balance: wallet.low_balance,
      isLow: wallet.low_since !== null,
    },
    transactions: Number(counted?.['count']),
    lots: lots.map((row) => [row['source'], ...columns.map((name) => row[name])].join(' ')),
    holds: holds.map((row) =>
      [row['operation_id'], row['state'], row['captured'] ?? 0, row['deadline_at']].join(' '),
    ),
    budgets: keys.map((key) => {
      const { held, spent } = spending.find((one) => one.key_id === key) ?? { held: 0, spent: 0 }
      return held + spent
    }),
    usage: await ledger.usageTotals({ account_id, from: '0', to: '9' }),
  }
}
