import type { Instant } from '../../../lib/time.ts'
import type { ChargeState, Micros, Posted } from '../contract/ledger.ts'
import { recordsOf } from '../model/records.ts'
import { LEDGER_ENTRIES, LEDGER_TRANSACTIONS } from '../models/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { shareOf } from './amounts.ts'
import type { About, Entry, Journal, Lot, Transaction } from './journal.ts'
import { NEVER } from './kinds.ts'
import { readLot, readSpendableLots, settleLot } from './lots.ts'
import { post, postedOf } from './post.ts'
import { lockWallet } from './wallet.ts'

/** A clawback that nothing has reversed. */
interface OpenClawback {
  readonly id: string
  /** What it took back. */
  readonly amount: Micros
  readonly entries: readonly Entry[]
}

/**
 * Refunds and disputes are counted as they are now, never as they changed: repeated, reordered and lost events
 * lead to the same ledger. The newest clawbacks are reversed whole until no more than necessary is taken;
 * then one clawback takes what is missing.
 */
export async function reconcile(
  sql: ReadScope,
  charge: ChargeState,
  now: Instant,
): Promise<readonly Posted[] | undefined> {
  const journal = await lockWallet(sql, charge.account_id, now)
  if (journal === undefined) return undefined
  const read = await readLot(sql, charge.account_id, charge.credit_id)
  if (read === undefined) return undefined
  const lot = journal.lotOf(read)
  const { open, number } = await readClawbacks(sql, charge)
  const about = aboutOf(charge)
  const desired = desiredOf(charge, lot.granted)
  let taken = open.reduce((sum, { amount }) => sum + amount, 0)
  if (taken === desired) return []

  const posted: { readonly transaction: Transaction; readonly amount: Micros }[] = []
  for (const clawback of open) {
    if (taken <= desired) break
    taken -= clawback.amount
    posted.push({ transaction: reinstate(journal, lot, clawback, about), amount: clawback.amount })
  }
  if (taken < desired) {
    const key = `clawback:${about.ref_id}:${number + 1}`
    const transaction = clawBack(journal, lot, taken, desired, { ...about, kind: 'clawback', key })
    posted.push({ transaction, amount: desired - taken })
    await payDebt(sql, journal)
  }
  const low = await post(sql, journal)
  return posted.map(({ transaction, amount }, index) =>
    postedOf(journal, transaction, amount, index === posted.length - 1 ? low : null),
  )
}

type AboutCharge = Pick<About, 'actor'> & { readonly ref_type: string; readonly ref_id: string }

const aboutOf = ({ processor, charge_id }: ChargeState): AboutCharge => ({
  actor: { type: 'processor', id: processor },
  ref_type: 'charge',
  ref_id: `${processor}:${charge_id}`,
})

/** The share of the credit that refunds and disputes have of the payment. */
function desiredOf({ paid, total, items }: ChargeState, credit: Micros): Micros {
  const active = items.reduce((sum, one) => (one.active ? sum + one.amount : sum), 0)
  return shareOf(credit, Math.min(active, paid), total)
}

/** Clawbacks of a charge that are not reversed, newest first, and how many it had altogether. */
async function readClawbacks(
  { query, t, dialect }: ReadScope,
  charge: ChargeState,
): Promise<{ readonly open: readonly OpenClawback[]; readonly number: number }> {
  const { ref_type, ref_id } = aboutOf(charge)
  const all = await recordsOf(query, t, LEDGER_TRANSACTIONS).select(
    'ref_type = $1 AND ref_id = $2 AND account_id = $3 ORDER BY seq DESC',
    [ref_type, ref_id, charge.account_id],
  )
  const reversed = new Set(all.map(({ reverses }) => reverses))
  const clawbacks = all.filter(({ kind }) => kind === 'clawback')
  const open = clawbacks.filter(({ id }) => !reversed.has(id))
  const entries = await recordsOf(query, t, LEDGER_ENTRIES).select(
    `${dialect.among('transaction_id', '$1')} ORDER BY transaction_id, number`,
    [JSON.stringify(open.map(({ id }) => id))],
  )
  return {
    number: clawbacks.length,
    open: open.map(({ id }) => {
      const own = entries.filter(({ transaction_id }) => transaction_id === id)
      return { id, amount: sumOf(own, 'processor') + sumOf(own, 'issued'), entries: own }
    }),
  }
}

function sumOf(entries: readonly Entry[], ledger: Entry['ledger']): Micros {
  return entries.reduce((sum, one) => (one.ledger === ledger ? sum + one.amount : sum), 0)
}

/** Takes from what is left of the lot, then from what of it expired; the rest is a debt, which other credit pays. */
function clawBack(
  journal: Journal,
  lot: Lot,
  before: Micros,
  after: Micros,
  about: About,
): Transaction {
  const left = Math.min(lot.remaining, after - before)
  const expired = Math.min(lot.expired, after - before - left)
  const debt = after - before - left - expired
  // Both are rounded, so that all clawbacks together take what the processor brought, to the last micro.
  const share =
    shareOf(after, lot.from_processor, lot.granted) -
    shareOf(before, lot.from_processor, lot.granted)
  const own = Math.min(share, left + expired)
  return journal.add(about, [
    { ledger: lot.source, lot, amount: -left },
    { ledger: 'expired', lot, amount: -expired },
    { ledger: 'processor', lot, amount: own },
    { ledger: 'issued', lot, amount: left + expired - own },
    { ledger: 'debt', amount: -debt },
    { ledger: 'processor', amount: share - own },
    { ledger: 'issued', amount: debt - (share - own) },
  ])
}

/** Pays the debt from other credit, in the order in which it is spent. */
async function payDebt(sql: ReadScope, journal: Journal): Promise<void> {
  const { debt, paid, granted } = journal.wallet
  if (debt === 0 || paid + granted === 0) return
  const lots = await readSpendableLots(sql, journal, 0 - debt)
  for (const lot of lots) settleLot(journal, lot)
}

/**
 * Gives back all that a clawback took: its debt, as far as it is unpaid; what it took from the
 * lot, to the lot; and what other credit has paid of its debt, as a new lot.
 */
function reinstate(
  journal: Journal,
  lot: Lot,
  { id, entries }: OpenClawback,
  about: AboutCharge,
): Transaction {
  const ofLot = entries.filter(({ lot_id }) => lot_id !== null)
  const ofDebt = entries.filter(({ lot_id }) => lot_id === null)
  const [fromProcessor, issued] = [sumOf(ofLot, 'processor'), sumOf(ofLot, 'issued')]
  const [debtOfProcessor, debtIssued] = [sumOf(ofDebt, 'processor'), sumOf(ofDebt, 'issued')]
  const debt = Math.min(debtOfProcessor + debtIssued, 0 - journal.wallet.debt)
  const paid = debtOfProcessor + debtIssued - debt
  const forgiven = Math.min(debtOfProcessor, debt)
  const again = debtOfProcessor - forgiven
  const back =
    paid === 0
      ? undefined
      : journal.newLot({ source: lot.source, from_processor: again, expires_at: NEVER })
  const kind = 'reinstatement'
  const transaction = journal.add({ ...about, kind, key: `${kind}:${id}`, reverses: id }, [
    { ledger: 'processor', amount: -forgiven },
    { ledger: 'issued', amount: forgiven - debt },
    { ledger: 'debt', amount: debt },
    { ledger: 'processor', lot, amount: -fromProcessor },
    { ledger: 'issued', lot, amount: -issued },
    { ledger: lot.source, lot, amount: fromProcessor + issued },
    ...(back === undefined
      ? []
      : [
          { ledger: 'processor' as const, lot: back, amount: -again },
          { ledger: 'issued' as const, lot: back, amount: again - paid },
          { ledger: back.source, lot: back, amount: paid },
        ]),
  ])
  settleLot(journal, lot)
  if (back !== undefined) settleLot(journal, back)
  return transaction
}
