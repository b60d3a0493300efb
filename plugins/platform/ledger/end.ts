import type { HoldRecord, LowBalance, Micros } from '../contract/ledger.ts'
import { LOTS } from '../models/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { dayOf } from './amounts.ts'
import { settleBudgets } from './budgets.ts'
import type { Journal, Transaction } from './journal.ts'
import type { HoldState } from './kinds.ts'
import type { Piece } from './lots.ts'
import { SYSTEM, settleLot } from './lots.ts'
import { post, requireCount } from './post.ts'
import { recordUsage } from './usage.ts'

/** A hold that ends, as it will be. */
export interface EndingHold extends HoldRecord {
  readonly state: Exclude<HoldState, 'open'>
  /** What was used, where it is captured. */
  readonly used: number
}

/** Ends open holds of the account of a journal, and posts it. */
export async function endHolds(
  sql: ReadScope,
  journal: Journal,
  ending: readonly EndingHold[],
): Promise<LowBalance | null> {
  await changeHolds(sql, ending)
  const pieces = await readPieces(sql, journal, ending)
  for (const hold of ending) {
    const taken = pieces.get(hold.id) ?? []
    const transaction = addEnd(journal, hold, taken)
    for (const { lot } of taken) settleLot(journal, lot)
    await settleBudgets(sql, hold, hold.captured ?? 0)
    if (hold.state === 'captured') {
      await recordUsage(sql, dayOf(journal.at), transaction, hold.captured ?? 0)
    }
  }
  return post(sql, journal)
}

async function changeHolds(
  { query, t, dialect }: ReadScope,
  ending: readonly EndingHold[],
): Promise<void> {
  const found = await query(
    `WITH ending AS (SELECT one.value ->> 0 AS id, one.value ->> 1 AS state,
         CAST(one.value ->> 2 AS BIGINT) AS captured, CAST(one.value ->> 3 AS BIGINT) AS ended_at
       FROM ${dialect.each('$1', 'one')})
     UPDATE ${t.holds} SET state = ending.state, captured = ending.captured,
       ended_at = ending.ended_at
     FROM ending WHERE ${t.holds}.id = ending.id AND ${t.holds}.state = 'open' RETURNING 1`,
    [
      JSON.stringify(
        ending.map(({ id, state, captured, ended_at }) => [id, state, captured, ended_at]),
      ),
    ],
  )
  requireCount(found, ending.length, 'holds')
}

/** What each hold took, by its id, in the order in which it took it. */
async function readPieces(
  { query, t, dialect }: ReadScope,
  journal: Journal,
  ending: readonly EndingHold[],
): Promise<ReadonlyMap<string, readonly Piece[]>> {
  const rows = await query(
    `SELECT lot.*, part.hold_id, part.amount AS taken FROM ${t.hold_lots} part
     JOIN ${t.lots} lot ON lot.id = part.lot_id
     WHERE ${dialect.among('part.hold_id', '$1')} ORDER BY part.hold_id, part.number`,
    [JSON.stringify(ending.map(({ id }) => id))],
  )
  const pieces = new Map<string, Piece[]>()
  for (const row of rows) {
    const holdId = String(row['hold_id'])
    const piece = { lot: journal.lotOf(LOTS.toRecord(row)), amount: Number(row['taken']) }
    pieces.set(holdId, [...(pieces.get(holdId) ?? []), piece])
  }
  return pieces
}

/** What is captured comes from the lots in the order in which the hold took them; the rest goes back. */
function addEnd(journal: Journal, hold: EndingHold, pieces: readonly Piece[]): Transaction {
  const { id, state, operation, app_id, key_id, price_version, meter, used } = hold
  const kind = state === 'captured' ? 'capture' : 'release'
  let left: Micros = hold.captured ?? 0
  const sides = pieces.flatMap(({ lot, amount }) => {
    const captured = Math.min(left, amount)
    left -= captured
    return [
      { ledger: 'held' as const, lot, amount: -amount },
      { ledger: 'revenue' as const, lot, amount: captured },
      { ledger: lot.source, lot, amount: amount - captured },
    ]
  })
  const about = { kind, key: `${kind}:${id}`, actor: SYSTEM, ref_type: 'hold', ref_id: id } as const
  const work = { operation, app_id, key_id, price_version }
  const measured = kind === 'capture' ? { meter, quantity: used } : {}
  return journal.add({ ...about, ...work, ...measured }, sides)
}
