import type { Instant } from '../../../lib/time.ts'
import type { LedgerActor, Micros } from '../contract/ledger.ts'
import { recordsOf } from '../model/records.ts'
import { LOTS } from '../models/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import type { Journal, Lot, Transaction } from './journal.ts'

export const SYSTEM: LedgerActor = { type: 'system', id: null }

/** The order in which credit is spent. */
const SPENDING_ORDER = 'expires_at, rank, seq'

/** Lots that are read at once to find what a hold takes. */
const READ_AT_ONCE = 64

export function readDueLots(
  { query, t }: ReadScope,
  accountId: string,
  now: Instant,
): Promise<readonly Lot[]> {
  return recordsOf(query, t, LOTS).select(
    `account_id = $1 AND remaining > 0 AND expires_at <= $2 ORDER BY ${SPENDING_ORDER}`,
    [accountId, now],
  )
}

export function readLot(
  { query, t }: ReadScope,
  accountId: string,
  id: string,
): Promise<Lot | undefined> {
  return recordsOf(query, t, LOTS).get({ id, account_id: accountId })
}

/**
 * The first lots, in the order in which credit is spent, that have at least `amount` left together: as the journal
 * leaves them, and with those that it creates, which no statement finds before it is posted.
 */
export async function readSpendableLots(
  { query, t }: ReadScope,
  journal: Journal,
  amount: Micros,
): Promise<readonly Lot[]> {
  const { wallet, now } = journal
  const lots: Lot[] = []
  let left = amount
  for (let isMore = true; isMore && left > 0;) {
    const last = lots.at(-1)
    const after =
      last === undefined
        ? ''
        : `AND (${SPENDING_ORDER}) > (CAST($4 AS BIGINT), CAST($5 AS SMALLINT), CAST($6 AS BIGINT))`
    const page = await recordsOf(query, t, LOTS).select(
      `account_id = $1 AND remaining > 0 AND expires_at > $2 ${after}
       ORDER BY ${SPENDING_ORDER} LIMIT $3`,
      [
        wallet.account_id,
        now,
        READ_AT_ONCE,
        ...(last ? [last.expires_at, last.rank, last.seq] : []),
      ],
    )
    lots.push(...page.map((lot) => journal.lotOf(lot)))
    left = amount - remainingOf(lots)
    isMore = page.length === READ_AT_ONCE
  }
  const created = journal.lots.filter(({ read }) => read === undefined)
  const all = [...lots, ...created.map(({ lot }) => journal.lotOf(lot))]
  return all.sort((a, b) => a.expires_at - b.expires_at || a.rank - b.rank || a.seq - b.seq)
}

const remainingOf = (lots: readonly Lot[]): Micros =>
  lots.reduce((sum, { remaining }) => sum + remaining, 0)

/** A part of what is taken. */
export interface Piece {
  readonly lot: Lot
  readonly amount: Micros
}

/** Divides an amount over lots, in their order. */
export function divide(lots: readonly Lot[], amount: Micros): readonly Piece[] {
  const pieces: Piece[] = []
  let left = amount
  for (const lot of lots) {
    const taken = Math.min(lot.remaining, left)
    if (taken > 0) pieces.push({ lot, amount: taken })
    left -= taken
  }
  if (left > 0) throw new Error(`the lots are ${left} short of the balance`)
  return pieces
}

/** Posts the expiry of what is left of a lot, if it has expired. */
export function expireLot(journal: Journal, lot: Lot): Transaction | undefined {
  const { remaining: amount, source } = lot
  if (amount === 0 || lot.expires_at > journal.now) return undefined
  const key = `expiry:${lot.id}:${journal.wallet.transactions + 1}`
  return journal.add({ kind: 'expiry', key, actor: SYSTEM, ref_type: 'lot', ref_id: lot.id }, [
    { ledger: source, lot, amount: -amount },
    { ledger: 'expired', lot, amount },
  ])
}

/** What becomes of credit that came, came back, or is left when a debt arises: it expires if it has to, else it pays. */
export function settleLot(journal: Journal, lot: Lot): void {
  expireLot(journal, lot)
  const amount = Math.min(lot.remaining, 0 - journal.wallet.debt)
  if (amount === 0) return
  const key = `debt_payment:${lot.id}:${journal.wallet.transactions + 1}`
  journal.add({ kind: 'debt_payment', key, actor: SYSTEM, ref_type: 'lot', ref_id: lot.id }, [
    { ledger: lot.source, lot, amount: -amount },
    { ledger: 'debt', lot, amount },
  ])
}
