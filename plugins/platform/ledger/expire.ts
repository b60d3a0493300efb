import type { Instant } from '../../../lib/time.ts'
import type { HoldEnd, Posted } from '../contract/ledger.ts'
import { recordsOf } from '../model/records.ts'
import { HOLDS } from '../models/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { endHolds } from './end.ts'
import { NEVER } from './kinds.ts'
import { post, postedOf } from './post.ts'
import { lockWallet } from './wallet.ts'

export async function expireLots(
  sql: ReadScope,
  now: Instant,
  limit: number,
): Promise<readonly Posted[]> {
  const { query, t } = sql
  const due = await query(
    `SELECT account_id FROM ${t.lots} WHERE remaining > 0 AND expires_at <= $1
       AND expires_at < ${NEVER} ORDER BY expires_at, id LIMIT $2`,
    [now, limit],
  )
  const posted: Posted[] = []
  for (const accountId of accountsOf(due)) {
    const journal = await lockWallet(sql, accountId, now)
    if (journal === undefined) continue
    const low = await post(sql, journal)
    const last = journal.transactions.at(-1)
    for (const one of journal.transactions) {
      posted.push(postedOf(journal, one, 0 - one.amount, one === last ? low : null))
    }
  }
  return posted
}

export async function expireHolds(
  sql: ReadScope,
  now: Instant,
  limit: number,
): Promise<readonly HoldEnd[]> {
  const { query, t, dialect } = sql
  const due = await query(
    `SELECT account_id, id FROM ${t.holds} WHERE state = 'open' AND deadline_at <= $1
     ORDER BY deadline_at, id LIMIT $2`,
    [now, limit],
  )
  const ids = JSON.stringify(due.map(({ id }) => id))
  const ends: HoldEnd[] = []
  for (const accountId of accountsOf(due)) {
    const journal = await lockWallet(sql, accountId, now)
    if (journal === undefined) continue
    // Others may have ended or extended them before the lock was taken.
    const open = await recordsOf(query, t, HOLDS).select(
      `account_id = $1 AND ${dialect.among('id', '$2')} AND state = 'open' AND deadline_at <= $3
       ORDER BY seq`,
      [accountId, ids, now],
    )
    if (open.length === 0) continue
    const ending = open.map((hold) => ({
      ...hold,
      state: 'expired' as const,
      ended_at: journal.at,
      used: 0,
    }))
    const low = await endHolds(sql, journal, ending)
    for (const [index, { used: _, ...hold }] of ending.entries()) {
      const isLast = index === ending.length - 1
      ends.push({ hold, ended: true, captured: 0, low: isLast ? low : null })
    }
  }
  return ends
}

/** In one order, so that two sweeps never wait for each other. */
function accountsOf(rows: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return [...new Set(rows.map((row) => String(row['account_id'])))].sort()
}
