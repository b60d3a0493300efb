import type {
  Charged,
  ChargeState,
  Credit,
  HoldOutcome,
  HoldState,
  KeyBudget,
  LedgerWork,
  NewHold,
  UsageCharge,
} from '../../plugins/platform/contract/ledger.ts'

/** What became of one micro: it is left, spent, expired or clawed back, or held by the hold of this id. */
type Fate = 'left' | 'spent' | 'expired' | 'clawed' | { readonly hold: string }

export interface ModelLot {
  readonly credit: string
  readonly kind: string
  readonly source: 'paid' | 'granted'
  /** The number of the transaction that created it. */
  readonly seq: number
  expires_at: number
  revoked: boolean
  readonly micros: Fate[]
}

export interface ModelHold {
  readonly asked: NewHold
  readonly budgets: readonly string[]
  readonly seq: number
  /** Micros of lots, in the order in which they were taken. */
  readonly taken: { readonly lot: ModelLot; readonly index: number }[]
  state: HoldState
  captured: number
  deadline_at: number
}

interface ModelClawback {
  readonly charge: string
  readonly fromLot: number
  readonly debt: number
  reversed: boolean
}

export interface ModelAccount {
  readonly id: string
  /** Whether anything made a wallet. */
  exists: boolean
  readonly lots: ModelLot[]
  readonly holds: ModelHold[]
  readonly clawbacks: ModelClawback[]
  readonly posted: Set<string>
  debt: number
  low_balance: number | null
  isLow: boolean
  /** How often the balance fell below the threshold. */
  lows: number
  transactions: number
  charges: number
  charged: number
}

/** The threshold that a call crossed. */
export type Crossed = { readonly available: number; readonly low_balance: number } | null

const NEVER = Number.MAX_SAFE_INTEGER

/** Micros of a lot that share a fate. */
export const countOf = (lot: ModelLot, fate: 'left' | 'spent' | 'expired' | 'clawed'): number =>
  lot.micros.filter((one) => one === fate).length

export const heldOf = (lot: ModelLot): number =>
  lot.micros.filter((one) => typeof one === 'object').length

/**
 * The ledger by brute force: every micro of credit is remembered by itself, and every total is counted anew.
 * It has no tables, no totals, and no order but that of calls.
 */
export function createLedgerModel() {
  const accounts = new Map<string, ModelAccount>()

  function of(id: string): ModelAccount {
    const known = accounts.get(id) ?? {
      id,
      exists: false,
      lots: [],
      holds: [],
      clawbacks: [],
      posted: new Set(),
      debt: 0,
      low_balance: null,
      isLow: false,
      lows: 0,
      transactions: 0,
      charges: 0,
      charged: 0,
    }
    accounts.set(id, known)
    return known
  }

  /** Left and not due to expire, whether or not a debt keeps it from being spent. */
  function left(account: ModelAccount, now: number): number {
    const live = account.lots.filter(({ expires_at }) => expires_at > now)
    return live.reduce((sum, lot) => sum + countOf(lot, 'left'), 0)
  }

  const available = (account: ModelAccount, now: number): number =>
    account.debt > 0 ? 0 : left(account, now)

  function change(lot: ModelLot, from: Fate, to: Fate, most = lot.micros.length): number {
    let changed = 0
    for (const [index, fate] of lot.micros.entries()) {
      if (changed === most) break
      if (fate !== from) continue
      lot.micros[index] = to
      changed += 1
    }
    return changed
  }

  function expire(account: ModelAccount, lot: ModelLot, now: number): void {
    if (lot.expires_at <= now && change(lot, 'left', 'expired') > 0) account.transactions += 1
  }

  function expireDue(account: ModelAccount, now: number): void {
    for (const lot of account.lots) expire(account, lot, now)
  }

  /** What comes or comes back expires if it has to, else it pays a debt. */
  function settle(account: ModelAccount, lot: ModelLot, now: number): void {
    expire(account, lot, now)
    const paid = change(lot, 'left', 'spent', account.debt)
    account.debt -= paid
    if (paid > 0) account.transactions += 1
  }

  function addLot(
    account: ModelAccount,
    lot: Pick<ModelLot, 'credit' | 'kind' | 'source' | 'expires_at'>,
    amount: number,
  ): ModelLot {
    account.transactions += 1
    const added: ModelLot = {
      ...lot,
      seq: account.transactions,
      revoked: false,
      micros: Array<Fate>(amount).fill('left'),
    }
    account.lots.push(added)
    return added
  }

  /** Runs a call, and says whether it crossed the threshold. */
  function crossing(account: ModelAccount, now: number, run: () => void): Crossed {
    const before = account.transactions
    run()
    return account.transactions === before ? null : judge(account, now)
  }

  function judge(account: ModelAccount, now: number): Crossed {
    const wasLow = account.isLow
    const { low_balance } = account
    const rest = available(account, now)
    account.isLow = low_balance !== null && rest < low_balance
    if (!account.isLow || wasLow || low_balance === null) return null
    account.lows += 1
    return { available: rest, low_balance }
  }

  function used(key: string, month: string): number {
    const own = [...accounts.values()]
      .flatMap(({ holds }) => holds)
      .filter(({ budgets, asked }) => budgets.includes(key) && monthOf(asked.now) === month)
    return own.reduce((sum, one) => sum + amountOf(one), 0)
  }

  /** What of a hold counts against budgets. */
  function amountOf({ state, asked, captured }: ModelHold): number {
    return state === 'open' ? asked.amount : captured
  }

  function find({ account_id, operation_id }: LedgerWork): ModelHold | undefined {
    return of(account_id).holds.findLast(({ asked }) => asked.operation_id === operation_id)
  }

  function end(
    account: ModelAccount,
    hold: ModelHold,
    state: Exclude<HoldState, 'open'>,
    captured: number,
    now: number,
  ): void {
    hold.state = state
    hold.captured = captured
    account.transactions += 1
    for (const [index, { lot, index: micro }] of hold.taken.entries()) {
      lot.micros[micro] = index < captured ? 'spent' : 'left'
    }
    for (const lot of new Set(hold.taken.map((one) => one.lot))) settle(account, lot, now)
  }

  return {
    of,
    available,
    find,
    used,
    credit(credit: Credit): { readonly low: Crossed } | undefined {
      const account = of(credit.account_id)
      const key = `${credit.kind}:${credit.origin_id}`
      if (account.posted.has(key)) return undefined
      const low = crossing(account, credit.now, () => {
        account.exists = true
        account.posted.add(key)
        expireDue(account, credit.now)
        const { kind } = credit
        const source = kind === 'topup' ? 'paid' : 'granted'
        const expires_at = credit.expires_at ?? NEVER
        const lot = addLot(account, { credit: key, kind, source, expires_at }, credit.amount)
        settle(account, lot, credit.now)
      })
      return { low }
    },
    hold(asked: readonly NewHold[], budgets: readonly KeyBudget[]): HoldOutcome {
      const [first] = asked
      if (first === undefined) return { held: true, required: 0, low: null }
      const { account_id, now } = first
      const account = of(account_id)
      let outcome: HoldOutcome = { held: true, required: 0, low: null }
      const low = crossing(account, now, () => {
        expireDue(account, now)
        const wanted = asked.filter((one) => {
          const state = find(one)?.state
          return state !== 'open' && state !== 'captured'
        })
        const required = wanted.reduce((sum, { amount }) => sum + amount, 0)
        const refusal = { held: false, required, debt: account.debt, low: null } as const
        const limits = [
          {
            source: account.debt > 0 ? ('account' as const) : ('wallet' as const),
            key_id: null,
            available: available(account, now),
            resets_at: null,
          },
          ...budgets.map(({ key_id, monthly_micros }) => ({
            source: 'key' as const,
            key_id,
            available: monthly_micros - used(key_id, monthOf(now)),
            resets_at: nextMonth(now),
          })),
        ].filter((limit) => limit.available < required)
        const least = Math.min(...limits.map((limit) => limit.available))
        const refusing = limits.find((limit) => limit.available === least)
        if (refusing !== undefined) {
          outcome = { ...refusal, ...refusing }
          return
        }
        for (const one of wanted) take(account, one, budgets, now)
        outcome = { held: true, required, low: null }
      })
      return { ...outcome, low }
    },
    capture(work: LedgerWork, charge: Charged, now: number) {
      return ending(work, now, (account, hold) => {
        const captured = Math.min(charge.amount, hold.asked.amount)
        account.charges += 1
        account.charged += captured
        end(account, hold, 'captured', captured, now)
      })
    },
    release: (work: LedgerWork, now: number) =>
      ending(work, now, (account, hold) => end(account, hold, 'released', 0, now)),
    extend(work: LedgerWork, deadline: number): boolean {
      const hold = find(work)
      if (hold?.state !== 'open') return false
      hold.deadline_at = Math.max(hold.deadline_at, deadline)
      return true
    },
    /** Ids of the holds that end. */
    expireHolds(now: number, limit: number): readonly string[] {
      const due = [...accounts.values()]
        .flatMap(({ holds }) => holds)
        .filter(({ state, deadline_at }) => state === 'open' && deadline_at <= now)
        .sort((a, b) => a.deadline_at - b.deadline_at || (a.asked.id < b.asked.id ? -1 : 1))
        .slice(0, limit)
      for (const id of new Set(due.map(({ asked }) => asked.account_id))) {
        const account = of(id)
        crossing(account, now, () => {
          expireDue(account, now)
          const own = due.filter(({ asked }) => asked.account_id === id)
          for (const hold of own.sort((a, b) => a.seq - b.seq)) {
            end(account, hold, 'expired', 0, now)
          }
        })
      }
      return due.map(({ asked }) => asked.id)
    },
    expireLots(now: number, limit: number, order: (lot: ModelLot) => string): number {
      const due = [...accounts.values()]
        .flatMap((account) => account.lots.map((lot) => ({ account, lot })))
        .filter(({ lot }) => lot.expires_at <= now && countOf(lot, 'left') > 0)
        .sort(
          (a, b) => a.lot.expires_at - b.lot.expires_at || (order(a.lot) < order(b.lot) ? -1 : 1),
        )
        .slice(0, limit)
      let posted = 0
      for (const account of new Set(due.map((one) => one.account))) {
        const before = account.transactions
        crossing(account, now, () => expireDue(account, now))
        posted += account.transactions - before
      }
      return posted
    },
    reconcile(charge: ChargeState, credit: string, now: number): readonly number[] | undefined {
      const account = of(charge.account_id)
      const lot = account.lots.find((one) => one.credit === credit)
      if (lot === undefined) return undefined
      const amounts: number[] = []
      const active = charge.items.reduce((sum, one) => sum + (one.active ? one.amount : 0), 0)
      const all = lot.micros.length
      const desired = Math.floor((all * Math.min(active, charge.paid)) / charge.total)
      const open = () =>
        account.clawbacks.filter((one) => one.charge === charge.charge_id && !one.reversed)
      const taken = () => open().reduce((sum, { fromLot, debt }) => sum + fromLot + debt, 0)
      if (taken() === desired) return []
      crossing(account, now, () => {
        expireDue(account, now)
        while (taken() > desired) {
          const newest = open().at(-1)
          if (newest === undefined) break
          amounts.push(newest.fromLot + newest.debt)
          reverse(account, lot, newest, now)
        }
        if (taken() < desired) {
          const missing = desired - taken()
          const fromLeft = change(lot, 'left', 'clawed', missing)
          const fromExpired = change(lot, 'expired', 'clawed', missing - fromLeft)
          const fromLot = fromLeft + fromExpired
          const debt = missing - fromLot
          account.debt += debt
          account.transactions += 1
          account.clawbacks.push({ charge: charge.charge_id, fromLot, debt, reversed: false })
          amounts.push(missing)
          for (const other of spendable(account, now)) settle(account, other, now)
        }
      })
      return amounts
    },
    revoke(account_id: string, credit: string, now: number): number | 'revoked' | undefined {
      const account = of(account_id)
      const lot = account.lots.find((one) => one.credit === credit)
      if (lot?.kind !== 'grant') return undefined
      if (lot.revoked) return 'revoked'
      let amount = 0
      crossing(account, now, () => {
        expireDue(account, now)
        amount = change(lot, 'left', 'clawed')
        lot.revoked = true
        lot.expires_at = Math.min(lot.expires_at, now)
        account.transactions += 1
      })
      return amount
    },
    charge(usage: UsageCharge): { readonly low: Crossed } | undefined {
      const account = of(usage.account_id)
      const key = `usage:${usage.key}`
      if (account.posted.has(key)) return undefined
      const { amount, now } = usage
      const low = crossing(account, now, () => {
        account.exists = true
        account.posted.add(key)
        expireDue(account, now)
        let missing = amount
        const rest = available(account, now)
        for (const lot of rest === 0 ? [] : spendable(account, now)) {
          missing -= change(lot, 'left', 'spent', missing)
        }
        account.debt += missing
        account.transactions += 1
        account.charges += 1
        account.charged += amount
      })
      return { low }
    },
    setLowBalance(account_id: string, micros: number | null, now: number): Crossed {
      const account = of(account_id)
      account.exists = true
      expireDue(account, now)
      account.low_balance = micros
      return judge(account, now)
    },
  }

  function spendable(account: ModelAccount, now: number): readonly ModelLot[] {
    const rank = { granted: 0, paid: 1 } as const
    return account.lots
      .filter(({ expires_at }) => expires_at > now)
      .sort(
        (a, b) => a.expires_at - b.expires_at || rank[a.source] - rank[b.source] || a.seq - b.seq,
      )
  }

  function take(
    account: ModelAccount,
    asked: NewHold,
    budgets: readonly KeyBudget[],
    now: number,
  ): void {
    account.transactions += 1
    const hold: ModelHold = {
      asked,
      budgets: budgets.map(({ key_id }) => key_id),
      seq: account.transactions,
      taken: [],
      state: 'open',
      captured: 0,
      deadline_at: asked.deadline_at,
    }
    for (const lot of spendable(account, now)) {
      for (const [index, fate] of lot.micros.entries()) {
        if (hold.taken.length === asked.amount) break
        if (fate !== 'left') continue
        lot.micros[index] = { hold: asked.id }
        hold.taken.push({ lot, index })
      }
    }
    account.holds.push(hold)
  }

  function ending(
    work: LedgerWork,
    now: number,
    run: (account: ModelAccount, hold: ModelHold) => void,
  ): { readonly ended: boolean; readonly captured: number; readonly low: Crossed } | undefined {
    const account = of(work.account_id)
    const hold = find(work)
    if (hold === undefined) return undefined
    const isOpen = hold.state === 'open'
    const low = crossing(account, now, () => {
      expireDue(account, now)
      if (isOpen) run(account, hold)
    })
    return { ended: isOpen, captured: hold.captured, low }
  }

  /** Forgives the debt that is left, gives back to the lot, and what other credit has paid as a new lot. */
  function reverse(
    account: ModelAccount,
    lot: ModelLot,
    clawback: ModelClawback,
    now: number,
  ): void {
    clawback.reversed = true
    const forgiven = Math.min(account.debt, clawback.debt)
    account.debt -= forgiven
    change(lot, 'clawed', 'left', clawback.fromLot)
    const again = clawback.debt - forgiven
    const { source, credit } = lot
    const about = { credit: `${credit} again`, kind: 'reinstatement', source, expires_at: NEVER }
    const back = again > 0 ? addLot(account, about, again) : undefined
    if (back === undefined) account.transactions += 1
    settle(account, lot, now)
    if (back !== undefined) settle(account, back, now)
  }
}

export type LedgerModel = ReturnType<typeof createLedgerModel>

export const monthOf = (now: number): string => new Date(now).toISOString().slice(0, 7)

function nextMonth(now: number): number {
  const at = new Date(now)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}
