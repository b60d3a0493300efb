import type { Dialect } from '../../store/sql/client.ts'
import type { LedgerCheck } from '../contract/ledger.ts'
import type { PlatformTables } from '../sql/tables.ts'
import { LEDGER_ACCOUNTS } from './kinds.ts'

/**
 * Two sets of rows that must be equal: each selects an account, an id, what is compared, and its amount. Amounts
 * of the same account, id and name add up; those that only one side has are compared with 0.
 */
export interface Comparison {
  readonly stored: readonly string[]
  readonly folded: readonly string[]
}

type Checks = Readonly<
  Record<Exclude<LedgerCheck, 'charges'>, (t: PlatformTables, dialect: Dialect) => Comparison>
>

/** Columns of a table as rows. */
const columnsOf = (
  table: string,
  id: string,
  columns: Readonly<Record<string, string>>,
): readonly string[] =>
  Object.entries(columns).map(
    ([what, value]) => `SELECT account_id, ${id}, '${what}', ${value} FROM ${table}`,
  )

const named = (columns: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(columns.map((column) => [column, column]))

export const CHECKS: Checks = {
  transaction_sum: (t) => ({
    stored: [
      `SELECT account_id, transaction_id, 'sum', amount FROM ${t.ledger_entries}`,
      `SELECT account_id, transaction_id, lot_id, amount FROM ${t.ledger_entries}
       WHERE lot_id IS NOT NULL`,
    ],
    folded: [],
  }),

  wallet_balance: (t) => ({
    stored: columnsOf(t.wallets, 'account_id', named(LEDGER_ACCOUNTS)),
    folded: [`SELECT account_id, account_id, ledger, amount FROM ${t.ledger_entries}`],
  }),

  lot_balance: (t) => ({
    stored: [
      `SELECT account_id, id, source, remaining FROM ${t.lots}`,
      ...columnsOf(t.lots, 'id', named(['held', 'spent', 'expired', 'clawed', 'from_processor'])),
      `SELECT account_id, id, 'created', granted FROM ${t.lots}`,
    ],
    folded: [
      `SELECT account_id, lot_id, ${LOT_COLUMN}, CASE WHEN ${CREATES} THEN -amount ELSE amount END
       FROM ${t.ledger_entries} WHERE lot_id IS NOT NULL`,
      `SELECT account_id, lot_id, 'from_processor', -amount FROM ${t.ledger_entries}
       WHERE ledger = 'processor' AND transaction_id = lot_id`,
    ],
  }),

  hold_lots: (t) => ({
    stored: [
      `SELECT account_id, id, 'held', held FROM ${t.lots}`,
      `SELECT account_id, id, 'amount', amount FROM ${t.holds}`,
      `SELECT hold.account_id, hold.id, part.lot_id, part.amount
       FROM ${t.hold_lots} part JOIN ${t.holds} hold ON hold.id = part.hold_id`,
    ],
    folded: [
      `SELECT hold.account_id, part.lot_id, 'held', part.amount
       FROM ${t.hold_lots} part JOIN ${t.holds} hold ON hold.id = part.hold_id
       WHERE hold.state = 'open'`,
      `SELECT hold.account_id, hold.id, 'amount', part.amount
       FROM ${t.hold_lots} part JOIN ${t.holds} hold ON hold.id = part.hold_id`,
      `SELECT entry.account_id, made.ref_id, entry.lot_id, entry.amount
       FROM ${t.ledger_transactions} made JOIN ${t.ledger_entries} entry
         ON entry.transaction_id = made.id AND entry.ledger = 'held'
       WHERE made.kind = 'hold'`,
    ],
  }),

  hold_end: (t) => ({
    stored: columnsOf(t.holds, 'id', {
      hold: '1',
      capture: `CASE WHEN state = 'captured' THEN 1 ELSE 0 END`,
      release: `CASE WHEN state IN ('released', 'expired') THEN 1 ELSE 0 END`,
      held: `CASE WHEN state = 'open' THEN amount ELSE 0 END`,
      charged: 'COALESCE(captured, 0)',
    }),
    folded: [
      ofHolds(t, 'kind', '1'),
      ofHolds(t, `'held'`, 'held'),
      ofHolds(t, `'charged'`, '-amount'),
    ],
  }),

  transaction_order: (t) => ({
    stored: [
      ...columnsOf(
        t.ledger_transactions,
        'id',
        named(['seq', 'at', 'amount', 'held', 'debt', 'balance_after', 'available_after']),
      ),
      ...columnsOf(t.wallets, 'account_id', named(['transactions'])),
    ],
    folded: [
      ...columnsOf(running(t), 'id', {
        seq: 'place',
        at: 'latest',
        balance_after: 'balance',
        available_after: 'CASE WHEN debts < 0 THEN 0 ELSE balance - set_aside END',
      }),
      `SELECT account_id, transaction_id, 'amount', amount FROM ${t.ledger_entries}
       WHERE ledger IN ('paid', 'granted', 'held')`,
      `SELECT account_id, transaction_id, ledger, amount FROM ${t.ledger_entries}
       WHERE ledger IN ('held', 'debt')`,
      `SELECT account_id, account_id, 'transactions', 1 FROM ${t.ledger_transactions}`,
    ],
  }),

  reversal: (t) => ({
    stored: [
      `SELECT account_id, id, 'reversal', 1 FROM ${t.ledger_transactions}
       WHERE reverses IS NOT NULL OR kind IN ('reinstatement', 'revoke')`,
      `SELECT back.account_id, back.id, entry.ledger, entry.amount
       FROM ${t.ledger_transactions} back JOIN ${t.ledger_entries} entry
         ON entry.transaction_id = back.id AND entry.ledger IN ('processor', 'issued')
       WHERE back.kind = 'reinstatement'`,
      // A revocation takes no more than its grant; what it takes less is no difference.
      `SELECT back.account_id, back.id, 'revoked', -back.amount
       FROM ${t.ledger_transactions} back JOIN ${t.ledger_transactions} first
         ON first.id = back.reverses
       WHERE back.kind = 'revoke' AND -back.amount > first.amount`,
    ],
    folded: [
      `SELECT back.account_id, back.id, 'reversal', 1
       FROM ${t.ledger_transactions} back JOIN ${t.ledger_transactions} first
         ON first.id = back.reverses AND first.account_id = back.account_id
       WHERE (back.kind = 'reinstatement' AND first.kind = 'clawback')
         OR (back.kind = 'revoke' AND first.kind = 'grant')`,
      `SELECT back.account_id, back.id, entry.ledger, -entry.amount
       FROM ${t.ledger_transactions} back JOIN ${t.ledger_entries} entry
         ON entry.transaction_id = back.reverses AND entry.ledger IN ('processor', 'issued')
       WHERE back.kind = 'reinstatement'`,
      `SELECT back.account_id, back.id, 'revoked', first.amount
       FROM ${t.ledger_transactions} back JOIN ${t.ledger_transactions} first
         ON first.id = back.reverses
       WHERE back.kind = 'revoke' AND -back.amount > first.amount`,
    ],
  }),

  key_spending: (t, dialect) => {
    const month = (value: string): string => `CAST(month AS TEXT) || ' ${value}'`
    const spent = (value: string, amount: string): string =>
      `SELECT account_id, one.value ->> 0, ${month(value)}, ${amount}
       FROM ${t.holds} hold, ${dialect.each('hold.budget_keys', 'one')}`
    return {
      stored: ['held', 'spent'].map(
        (column) => `SELECT account_id, key_id, ${month(column)}, ${column} FROM ${t.key_spending}`,
      ),
      folded: [
        spent('held', `CASE WHEN state = 'open' THEN amount ELSE 0 END`),
        spent('spent', 'COALESCE(captured, 0)'),
      ],
    }
  },

  usage_days: (t, dialect) => {
    const id = (day: string): string =>
      `${day} || ' ' || operation || ' ' || meter || ' ' || COALESCE(app_id, '') || ' ' ||
        COALESCE(key_id, '')`
    const charges = `(SELECT * FROM ${t.ledger_transactions} WHERE kind IN ('capture', 'usage')) made`
    return {
      stored: columnsOf(t.usage_days, id('day'), named(['count', 'quantity', 'charged'])),
      folded: columnsOf(charges, id(DAYS[dialect.name]('at')), {
        count: '1',
        quantity: 'quantity',
        charged: '-(amount + debt)',
      }),
    }
  },

  hosting_charges: (t) => ({
    stored: columnsOf(
      t.hosting_charges,
      `app_id || ' ' || day || ' ' || meter`,
      named(['charged', 'parts']),
    ),
    folded: columnsOf(
      `(SELECT * FROM ${t.ledger_transactions} WHERE key LIKE 'usage:hosting:%') made`,
      `app_id || ' ' || note || ' ' || substr(operation, ${'hosting.'.length + 1})`,
      { charged: '-(amount + debt)', parts: '1' },
    ),
  }),
}

/** Of an entry: what the transaction that creates a lot takes from its source is what the lot was granted. */
const CREATES = `(transaction_id = lot_id AND ledger IN ('processor', 'issued'))`

/** The column of a lot that an entry changes; what is left is named by its source. */
const LOT_COLUMN = `CASE WHEN ${CREATES} THEN 'created'
  WHEN ledger IN ('revenue', 'debt') THEN 'spent'
  WHEN ledger IN ('processor', 'issued') THEN 'clawed' ELSE ledger END`

/** Transactions that make and end holds. */
function ofHolds(t: PlatformTables, what: string, amount: string): string {
  return `SELECT account_id, ref_id, ${what}, ${amount} FROM ${t.ledger_transactions}
    WHERE ref_type = 'hold'`
}

/** Transactions with what the changes up to each of them add up to. */
function running(t: PlatformTables): string {
  const over = 'OVER (PARTITION BY account_id ORDER BY seq ROWS UNBOUNDED PRECEDING)'
  return `(SELECT account_id, id, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY seq) AS place,
    MAX(at) ${over} AS latest, SUM(amount) ${over} AS balance, SUM(held) ${over} AS set_aside,
    SUM(debt) ${over} AS debts FROM ${t.ledger_transactions}) running`
}

/** The day of UTC of an instant. */
const DAYS: Readonly<Record<Dialect['name'], (at: string) => string>> = {
  sqlite: (at) => `strftime('%Y-%m-%d', ${at} / 1000, 'unixepoch')`,
  postgres: (at) => `to_char(to_timestamp(${at} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
}
