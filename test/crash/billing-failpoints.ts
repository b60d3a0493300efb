import type { Statement } from './failpoint-table.ts'
import type { WorkFailpoint } from './work-failpoints.ts'
import { around, beside, commitOf } from './work-failpoints.ts'

const POSTED = /^INSERT INTO keyhook_ledger_transactions /
const COMPLETED = /^DELETE FROM keyhook_jobs WHERE id = /
const EVENT_KEPT = /^INSERT INTO keyhook_processor_events /
const EVENT_ENDED = /^UPDATE keyhook_processor_events SET status/
const PUBLISHED = /INSERT INTO keyhook_(publishing|events) /
const AUDITED = /^INSERT INTO keyhook_audit /
const LOT_ADDED = /^INSERT INTO keyhook_lots /
const LOT_CHANGED = /UPDATE keyhook_lots SET remaining/
const HOLD_ENDED = /UPDATE keyhook_holds SET state/
const HOSTED = /^INSERT INTO keyhook_hosting_charges /
const LOCKED = /^UPDATE keyhook_wallets SET transactions = transactions/

/** What every posting writes, in its order. */
const POSTING = {
  posted: { sql: POSTED },
  entries: { sql: /^INSERT INTO keyhook_ledger_entries / },
  wallet: { sql: /^UPDATE keyhook_wallets SET paid/ },
} as const satisfies Readonly<Record<string, Statement>>

const since = (within: RegExp, sql: RegExp): Statement => ({ sql, within })

/** After each of some statements of a unit of work, and around the commit of the unit, which `key` tells. */
function throughout(
  name: string,
  key: RegExp,
  statements: Readonly<Record<string, Statement>>,
): readonly WorkFailpoint[] {
  return [
    ...Object.entries(statements).map(([what, at]) => ({
      name: `${name}.${what}`,
      at,
      when: 'after' as const,
    })),
    ...around(name, key),
  ]
}

/** Where an event of the processor is taken, and where its job is claimed. */
function taken(name: string): readonly WorkFailpoint[] {
  return [
    ...throughout(`${name}.intake`, EVENT_KEPT, {
      kept: { sql: EVENT_KEPT },
      queued: since(EVENT_KEPT, /^INSERT INTO keyhook_jobs /),
    }),
    ...beside(`${name}.claim`, /UPDATE keyhook_jobs SET status = 'running', .*'billing_event'/),
  ]
}

/** The unit that applies a fact which moves credit; `more` are its statements beside those of the ledger. */
function applied(
  name: string,
  statements: Readonly<Record<string, Statement>>,
): readonly WorkFailpoint[] {
  return throughout(name, POSTED, {
    completed: { sql: COMPLETED },
    ...statements,
    audited: since(POSTED, AUDITED),
    ended: since(POSTED, EVENT_ENDED),
  })
}

/** What is written when credit arrives. */
const CREDITED = {
  posted: POSTING.posted,
  lot: { sql: LOT_ADDED },
  entries: POSTING.entries,
  wallet: POSTING.wallet,
  published: since(POSTED, PUBLISHED),
  charge: { sql: /^INSERT INTO keyhook_charges / },
  followed_up: since(POSTED, EVENT_KEPT),
} as const

/** What is written when credit is taken back or returned. */
const RECONCILED = {
  item: { sql: /^INSERT INTO keyhook_charge_items / },
  locked: { sql: LOCKED },
  posted: POSTING.posted,
  lots: since(POSTED, LOT_CHANGED),
  entries: POSTING.entries,
  wallet: POSTING.wallet,
} as const

/** What is written when a hold ends. */
const ENDED = {
  hold: { sql: HOLD_ENDED },
  budget: since(HOLD_ENDED, /^UPDATE keyhook_key_spending SET held/),
  posted: since(HOLD_ENDED, POSTED),
  lots: since(HOLD_ENDED, LOT_CHANGED),
  entries: since(HOLD_ENDED, POSTING.entries.sql),
  wallet: since(HOLD_ENDED, POSTING.wallet.sql),
} as const

/** Moments of money at which a daemon may be made to die, by what is going on. */
export const BILLING_FAILPOINTS = {
  // While there is little to fetch again.
  'lost events': [
    ...throughout('sweep.found', EVENT_KEPT, {
      kept: { sql: EVENT_KEPT },
      queued: since(EVENT_KEPT, /^INSERT INTO keyhook_jobs /),
    }),
    ...around('sweep.noted', /^INSERT INTO keyhook_processor_sweeps /),
    ...beside('sweep.ended', /^UPDATE keyhook_jobs SET status = 'queued', run_at/),
  ],
  topup: [
    ...throughout('topup.begin', /^INSERT INTO keyhook_checkouts /, {
      checkout: { sql: /^INSERT INTO keyhook_checkouts / },
      audited: since(/^INSERT INTO keyhook_checkouts /, AUDITED),
    }),
    ...beside('topup.customer', /^INSERT INTO keyhook_billing_customers /),
    ...around('topup.session', /^UPDATE keyhook_checkouts SET session_id/),
    ...beside('topup.answer', /^UPDATE keyhook_idempotency SET fingerprint/),
    ...taken('topup'),
    ...applied('topup.credit', {
      wallet_made: { sql: /^INSERT INTO keyhook_wallets / },
      ...CREDITED,
      checkout: since(POSTED, /^UPDATE keyhook_checkouts SET status/),
    }),
    { name: 'topup.follow_up', at: commitOf(EVENT_ENDED), when: 'after', nth: 2 },
  ],
  pro: [
    ...around('pro.session', /^UPDATE keyhook_checkouts SET session_id/),
    ...beside('pro.checkout', /^UPDATE keyhook_checkouts SET status/),
    ...throughout('pro.plan', /^UPDATE keyhook_accounts SET plan/, {
      subscription: { sql: /^INSERT INTO keyhook_subscriptions / },
      plan: { sql: /^UPDATE keyhook_accounts SET plan/ },
      published: since(/^UPDATE keyhook_accounts SET plan/, PUBLISHED),
    }),
    ...applied('pro.credit', { posted: POSTING.posted, lot: { sql: LOT_ADDED } }),
  ],
  month: [
    ...taken('month'),
    ...applied('month.credit', {
      ...CREDITED,
      invoice: since(POSTED, /^INSERT INTO keyhook_invoices /),
    }),
    ...beside('month.subscription', /^INSERT INTO keyhook_subscriptions /),
  ],
  edit: [
    ...throughout('hold', /^INSERT INTO keyhook_holds /, {
      locked: { sql: LOCKED },
      posted: POSTING.posted,
      lots: { sql: LOT_CHANGED },
      entries: POSTING.entries,
      wallet: POSTING.wallet,
      hold: { sql: /^INSERT INTO keyhook_holds / },
      parts: { sql: /^INSERT INTO keyhook_hold_lots / },
      budget: { sql: /^INSERT INTO keyhook_key_spending / },
      edit: since(/^INSERT INTO keyhook_holds /, /^INSERT INTO keyhook_edits /),
    }),
    ...throughout('extend', /^UPDATE keyhook_holds SET deadline_at/, {
      extended: { sql: /^UPDATE keyhook_holds SET deadline_at/ },
    }),
    ...throughout('capture', HOLD_ENDED, {
      ...ENDED,
      usage: { sql: /^INSERT INTO keyhook_usage_days / },
      published: since(HOLD_ENDED, PUBLISHED),
    }),
  ],
  'failed edit': throughout('release', HOLD_ENDED, {
    hold: ENDED.hold,
    budget: ENDED.budget,
    posted: ENDED.posted,
    wallet: ENDED.wallet,
    published: since(HOLD_ENDED, PUBLISHED),
  }),
  refund: [...taken('refund'), ...applied('clawback', RECONCILED)],
  win: applied('reinstatement', { ...RECONCILED, lot: since(POSTED, LOT_ADDED) }),
  grant: throughout('grant', POSTED, {
    ...POSTING,
    lot: { sql: LOT_ADDED },
    published: since(POSTED, PUBLISHED),
    audited: since(POSTED, AUDITED),
    answered: since(POSTED, /^INSERT INTO keyhook_idempotency /),
  }),
  revoke: throughout('revoke', POSTED, {
    ...POSTING,
    lots: { sql: LOT_CHANGED },
    audited: since(POSTED, AUDITED),
  }),
  'lost work': throughout('hold_expiry', HOLD_ENDED, {
    hold: ENDED.hold,
    posted: ENDED.posted,
    lots: ENDED.lots,
    wallet: ENDED.wallet,
  }),
  'hosted day': throughout('hosting', HOSTED, {
    row: { sql: HOSTED },
    locked: since(HOSTED, LOCKED),
    usage: since(HOSTED, /^INSERT INTO keyhook_usage_days /),
    posted: since(HOSTED, POSTED),
    lots: since(HOSTED, LOT_CHANGED),
    entries: since(HOSTED, POSTING.entries.sql),
    wallet: since(HOSTED, POSTING.wallet.sql),
  }),
  'old credit': throughout('lot_expiry', POSTED, {
    ...POSTING,
    lots: { sql: LOT_CHANGED },
  }),
} as const satisfies Readonly<Record<string, readonly WorkFailpoint[]>>

export type BillingDoing = keyof typeof BILLING_FAILPOINTS
