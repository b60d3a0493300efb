import type { LedgerReads, LedgerWrites } from '../contract/ledger.ts'
import { recordsOf } from '../model/records.ts'
import { HOLDS } from '../models/ledger.ts'
import type { ReadScope } from '../sql/scope.ts'
import { monthOf } from './amounts.ts'
import { readSpending } from './budgets.ts'
import { charge } from './charge.ts'
import { reconcile } from './clawback.ts'
import { credit } from './credit.ts'
import { endHold } from './end-hold.ts'
import { expireHolds, expireLots } from './expire.ts'
import { extend } from './extend.ts'
import { hold, readHold } from './hold.ts'
import { readLimits } from './limits.ts'
import { getCredit, getTransaction, listTransactions } from './list.ts'
import { keepPriceVersion, readPriceVersions } from './prices.ts'
import { revoke } from './revoke.ts'
import { readUsage, readUsageTotals } from './usage.ts'
import { verify } from './verify.ts'
import { readExpiring, readWallet, setLowBalance } from './wallet.ts'

export function ledgerReads(sql: ReadScope): LedgerReads {
  const { query, t, dialect, search = query } = sql
  return {
    wallet: (accountId, now) => readWallet(query, t, accountId, now),
    expiring: (accountId, now, limit) => readExpiring(query, t, accountId, now, limit),
    getCredit: (accountId, id) => getCredit(query, t, accountId, id),
    getHold: (work) => readHold(query, t, work),
    countOpenHolds: () => recordsOf(query, t, HOLDS).count({ state: 'open' }),
    transactions: (asked) => listTransactions(query, t, dialect, asked),
    transaction: (accountId, id) => getTransaction(query, t, dialect, accountId, id),
    usage: (asked) => readUsage(query, t, asked),
    usageTotals: (asked) => readUsageTotals(query, t, asked),
    keySpending: (keyIds, now) => readSpending(query, t, dialect, keyIds, monthOf(now)),
    limits: async (accountId, budgets, now) =>
      readLimits(sql, await readWallet(query, t, accountId, now), budgets, now),
    priceVersions: () => readPriceVersions(query, t),
    verify: (accountId) => verify(search, t, dialect, accountId),
  }
}

export function ledgerWrites({ query, t, dialect }: ReadScope): LedgerWrites {
  const sql = { query, t, dialect }
  return {
    ...ledgerReads(sql),
    credit: (given) => credit(sql, given),
    hold: (holds, budgets) => hold(sql, holds, budgets),
    capture: (work, chargeOf, now) => endHold(sql, work, now, chargeOf),
    release: (work, now) => endHold(sql, work, now),
    extend: (work, deadline) => extend(sql, work, deadline),
    charge: (given) => charge(sql, given),
    expireLots: (now, limit) => expireLots(sql, now, limit),
    expireHolds: (now, limit) => expireHolds(sql, now, limit),
    reconcile: (state, now) => reconcile(sql, state, now),
    revoke: (accountId, creditId, actor, now) => revoke(sql, accountId, creditId, actor, now),
    setLowBalance: (given) => setLowBalance(sql, given),
    keepPriceVersion: (version) => keepPriceVersion(query, t, version),
  }
}
