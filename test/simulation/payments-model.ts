import { DAY } from '../../lib/time.ts'
import type { ObjectRef } from '../../plugins/billing/contract.ts'
import type { ChargeState, Credit } from '../../plugins/platform/contract/ledger.ts'
import type { Plan } from '../../plugins/store/contract/accounts.ts'
import type { LedgerModel } from './ledger-model.ts'

/** Micros of a month of the plan, and of the credit that it brings: not the same, so that shares are rounded. */
export const PRICE = 40
export const MONTHLY = 33
export const MONTHLY_DAYS = 3

const MONTH = 30 * DAY
const GRACE = 7 * DAY

export interface Topup {
  readonly session: string
  readonly account: string
  readonly amount: number
  /** Key of its credit. */
  readonly origin: string
  status: 'open' | 'later' | 'paid' | 'failed'
  readonly charge: string | undefined
}

interface SubscriptionState {
  readonly status: 'active' | 'past_due' | 'canceled'
  readonly past_due_since: number | null
  readonly cancel_at: number | null
  readonly period_end: number
}

export interface Subscription {
  readonly id: string
  readonly account: string
  /** As it is at the processor. */
  now: SubscriptionState
  /** As it was when it was fetched last. */
  known: SubscriptionState | undefined
}

export interface Bill {
  readonly id: string
  readonly subscription: string
  readonly due: number
  isPaid: boolean
  /** Whether it brings credit once it is paid. */
  readonly grants: boolean
  charge: string | null
}

/** A refund, or a dispute. */
export interface Item {
  readonly id: string
  readonly kind: 'refund' | 'dispute'
  readonly amount: number
  active: boolean
}

/** Money that has arrived. */
export interface ModelPayment {
  readonly charge: string
  readonly account: string
  readonly amount: number
  /** Key of the credit that it brings; undefined: none. */
  readonly credit: string | undefined
}

interface Applied {
  readonly account?: string | undefined
  /** Types of what must be published. */
  readonly events: readonly string[]
}

const NOTHING: Applied = { events: [] }

/**
 * What customers and banks did, and what of it the product has fetched, by lists alone. It says what a fetch
 * must do to a model of the ledger.
 */
export function createPaymentsModel(ledger: LedgerModel, processor: string) {
  const topups: Topup[] = []
  const subscriptions: Subscription[] = []
  const bills: Bill[] = []
  const returned = new Map<string, Item[]>()
  const plans = new Map<string, Plan>()

  function items(charge: string): Item[] {
    const known = returned.get(charge) ?? []
    returned.set(charge, known)
    return known
  }

  const accountOf = ({ subscription }: Bill): string =>
    subscriptions.find(({ id }) => id === subscription)?.account ?? ''

  function paid(): readonly ModelPayment[] {
    return [
      ...topups.flatMap(({ status, charge, account, amount, origin }) =>
        status === 'paid' && charge !== undefined
          ? [{ charge, account, amount, credit: `topup:${origin}` }]
          : [],
      ),
      ...bills.flatMap((bill) =>
        bill.isPaid && bill.charge !== null
          ? [
              {
                charge: bill.charge,
                account: accountOf(bill),
                amount: bill.due,
                credit: bill.grants ? `monthly_credit:${processor}:${bill.id}` : undefined,
              },
            ]
          : [],
      ),
    ]
  }

  /** The events of a call that may cross the threshold of an account. */
  function crossing(account: string, run: () => readonly string[]): Applied {
    const before = ledger.of(account).lows
    const events = run()
    const crossed = ledger.of(account).lows - before
    return { account, events: [...events, ...Array<string>(crossed).fill('billing.balance_low')] }
  }

  function credit(
    given: Pick<
      Credit,
      'account_id' | 'kind' | 'origin_id' | 'amount' | 'from_processor' | 'expires_at'
    >,
    now: number,
  ): Applied {
    const actor = { type: 'processor', id: processor } as const
    return crossing(given.account_id, () => {
      const posted = ledger.credit({ ...given, currency: 'USD', note: null, actor, now })
      return posted === undefined ? [] : ['billing.credited']
    })
  }

  function reconcile({ charge, account, amount, credit: key }: ModelPayment, now: number): number {
    if (key === undefined || !ledger.of(account).posted.has(key)) return 0
    const state: ChargeState = {
      account_id: account,
      processor,
      charge_id: charge,
      credit_id: '',
      paid: amount,
      total: amount,
      items: items(charge),
    }
    return ledger.reconcile(state, key, now)?.length ?? 0
  }

  function planOf(account: string, now: number): Plan {
    const pays = subscriptions.some(({ account: of, known }) => {
      if (of !== account || known === undefined) return false
      if (known.cancel_at !== null && known.cancel_at <= now) return false
      if (known.period_end + GRACE <= now) return false
      const isInGrace = known.past_due_since !== null && known.past_due_since + GRACE > now
      return known.status === 'active' || (known.status === 'past_due' && isInGrace)
    })
    return pays ? 'pro' : 'free'
  }

  const APPLY: Readonly<Record<ObjectRef['kind'], (id: string, now: number) => Applied>> = {
    checkout(id, now) {
      const topup = topups.find(({ session }) => session === id)
      if (topup?.status !== 'paid') return NOTHING
      const { account: account_id, amount, origin: origin_id } = topup
      const given = { kind: 'topup', account_id, amount, origin_id, expires_at: null } as const
      return credit({ ...given, from_processor: amount }, now)
    },
    invoice(id, now) {
      const bill = bills.find((one) => one.id === id)
      if (bill === undefined || !bill.isPaid || !bill.grants) return NOTHING
      const given = {
        kind: 'monthly_credit',
        origin_id: `${processor}:${id}`,
        amount: MONTHLY,
      } as const
      const from_processor = Math.min(MONTHLY, bill.due)
      const expires_at = now + MONTHLY_DAYS * DAY
      return credit({ ...given, account_id: accountOf(bill), from_processor, expires_at }, now)
    },
    charge(id, now) {
      const payment = paid().find(({ charge }) => charge === id)
      if (payment === undefined) return NOTHING
      return crossing(payment.account, () => {
        reconcile(payment, now)
        return []
      })
    },
    subscription(id, now) {
      const one = subscriptions.find((candidate) => candidate.id === id)
      if (one === undefined) return NOTHING
      one.known = one.now
      plans.set(one.account, planOf(one.account, now))
      return NOTHING
    },
  }

  return {
    topups,
    subscriptions,
    bills,
    items,
    paid,
    planOf,
    /** The plan that must be stored of an account. */
    stored: (account: string): Plan => plans.get(account) ?? 'free',
    addTopup: (topup: Topup): void => void topups.push(topup),
    addSubscription(id: string, account: string, now: number): void {
      const state = { status: 'active', past_due_since: null, cancel_at: null } as const
      subscriptions.push({
        id,
        account,
        now: { ...state, period_end: now + MONTH },
        known: undefined,
      })
    },
    addBill: (bill: Bill): void => void bills.push(bill),
    /** A month begins; one that is paid does not pay for those before. */
    cycle(one: Subscription, isPaid: boolean, now: number): void {
      const period_end = one.now.period_end + MONTH
      const past_due_since = one.now.past_due_since ?? now
      const due = isPaid ? {} : ({ status: 'past_due', past_due_since } as const)
      one.now = { ...one.now, ...due, period_end }
    },
    /** What a fetch of an object must do now. */
    apply: ({ kind, id }: ObjectRef, now: number): Applied => APPLY[kind](id, now),
    /** Time alone ends plans. */
    endPlans(now: number): void {
      for (const account of plans.keys()) {
        if (planOf(account, now) === 'free') plans.set(account, 'free')
      }
    },
    /** What happened and the product does not know. */
    unknown(now: number): readonly string[] {
      const isMissing = (account: string, key: string): boolean =>
        !ledger.of(account).posted.has(key)
      const uncredited = [
        ...topups.filter(
          ({ status, account, origin }) =>
            status === 'paid' && isMissing(account, `topup:${origin}`),
        ),
        ...bills.filter(
          (bill) =>
            bill.isPaid &&
            bill.grants &&
            isMissing(accountOf(bill), `monthly_credit:${processor}:${bill.id}`),
        ),
      ].map((one) => `the payment ${JSON.stringify(one)}`)
      const uncounted = paid().flatMap((payment) =>
        reconcile(payment, now) > 0 ? [`what was returned of ${payment.charge}`] : [],
      )
      const unfetched = subscriptions.flatMap(({ id, now: state, known }) =>
        JSON.stringify(state) === JSON.stringify(known) ? [] : [`the subscription ${id}`],
      )
      return [...uncredited, ...uncounted, ...unfetched]
    },
  }
}

export type PaymentsModel = ReturnType<typeof createPaymentsModel>
