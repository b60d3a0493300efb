import type { RequiredScope } from '../../lib/scope/cover.ts'
import { allows } from '../../lib/scope/cover.ts'
import type { Principal } from '../authority/principal.ts'
import { creatorOf, isPinned } from '../authority/principal.ts'
import type { Engine } from '../../lib/engine/engine.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Creator } from '../../lib/key/record.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import { DAY, HOUR } from '../../lib/time.ts'
import type { PaymentProcessor } from '../../plugins/billing/contract.ts'
import type { PaymentReads } from '../../plugins/platform/contract/payments.ts'
import type { PlatformReads, PlatformTx } from '../../plugins/platform/contract.ts'
import type { LeasedJob } from '../../plugins/platform/contract/jobs.ts'
import type {
  HoldRecord,
  LedgerWork,
  Micros,
  NewHold,
} from '../../plugins/platform/contract/ledger.ts'
import { MAX_MICROS, refusing, tightest } from '../../plugins/platform/contract/ledger.ts'
import type { AccountReads, Plan } from '../../plugins/store/contract/accounts.ts'
import type { KeyReads } from '../../plugins/store/contract/keys.ts'
import { planBySubscriptions } from './plan.ts'
import { insufficientBalance } from './errors.ts'
import { publishLow } from './events.ts'
import { budgetsOf } from './budgets.ts'
import type { PricedOperation, Prices } from './prices.ts'
import { costOf } from './prices.ts'
import type { Estimate } from './quote.ts'

/** `none`, `internal`, or the name of the payment processor. */
export type BillingMode = string

/** The payment processor, and its name in records. */
export interface Processing {
  readonly name: string
  readonly processor: PaymentProcessor
}

/** Reads for the plan of an account. */
export interface PlanReads {
  readonly accounts: Pick<AccountReads, 'get'>
  readonly payments: Pick<PaymentReads, 'subscriptions'>
}

/** Who has something done, and what. */
export interface Charged {
  readonly account_id: string
  /** An operation of the prices. */
  readonly operation: string
  readonly app_id: string | null
  /** A key spends its monthly budget, and those of the keys above it. */
  readonly by: Creator
  /** Whether the caller may read balances, and limits of other keys. Default false. */
  readonly readsBilling?: boolean
  readonly now: Instant
}

export interface HoldRequest extends Charged {
  /** Held for as a whole or not at all; their ids are unique within the account. */
  readonly works: readonly { readonly operation_id: string; readonly quantity: number }[]
  /** How long the hold lasts unless it is extended. Default one day. */
  readonly lifetime?: Millis
}

/** Reads for a price. */
export interface BillingReads extends Pick<PlatformReads, 'ledger'> {
  readonly keys: Pick<KeyReads, 'chain'>
}

/**
 * Payment for work: money is held when work is accepted, captured when it completes, and released when it
 * fails. Each happens in the unit of work that accepts or ends the work, so that both commit or neither does.
 * Reading, deleting and canceling are not billed.
 */
export interface Billing {
  readonly mode: BillingMode
  /** Whether anything is charged. */
  readonly metered: boolean
  /** Null without metering. */
  readonly currency: string | null
  readonly prices: Prices
  /** Undefined where nobody takes money. */
  readonly processing?: Processing | undefined
  /** Whether the plan is what a subscription at the payment processor pays for; else the operator sets it. */
  readonly sellsPlan: boolean
  /** What work would cost now, without a guarantee. */
  quote(
    reads: BillingReads,
    asked: Charged & { readonly quantities: readonly number[] },
  ): Promise<Estimate>
  /**
   * Holds the maximum cost of works. Work that is held or captured is skipped; released work may be held
   * again. What costs nothing is not held.
   *
   * @throws KeyhookError `insufficient_balance`, having held nothing
   */
  hold(tx: PlatformTx, asked: HoldRequest): Promise<void>
  /**
   * Captures the payment for completed work at the price that it was held at, and returns the rest of the
   * hold. Returns the captured amount: 0 for work without a hold.
   *
   * @param quantity actual quantity; at most the hold is captured. Default: that of the hold
   */
  capture(tx: PlatformTx, work: LedgerWork, quantity?: number): Promise<Micros>
  /** Releases the hold for failed work. Captured payment stays captured. */
  release(tx: PlatformTx, work: LedgerWork): Promise<void>
  /**
   * Before work begins: makes its hold last until then. False when the hold has expired, unless the work costs
   * nothing any more.
   */
  extend(tx: PlatformTx, work: LedgerWork, until: Instant): Promise<boolean>
  /** The plan of an account now. */
  planOf(reads: PlanReads, accountId: string, now: Instant): Promise<Plan>
}

/** The price of an operation. @throws TypeError for one that has none */
function priceOf(prices: Prices, operation: string, now: Instant) {
  const version = prices.at(now)
  const price: PricedOperation | undefined = version.operations[operation]
  // A name such as `constructor` is that of every object.
  if (price === undefined || !Object.hasOwn(version.operations, operation))
    throw new TypeError(`there is no price of ${operation}`)
  return { version: version.version, price }
}

/** Accounts of the installation without a record of their own have all features. */
const planOf: Billing['planOf'] = async ({ accounts }, accountId) =>
  (await accounts.get(accountId))?.plan ?? 'pro'

/** Billing without metering: everything is allowed, and nothing is charged. */
export function createNoBilling(prices: Prices): Billing {
  return {
    mode: 'none',
    metered: false,
    currency: null,
    prices,
    sellsPlan: false,
    async quote(_, { operation, quantities, now }) {
      const { version, price } = priceOf(prices, operation, now)
      const free = { required: 0, available: null, currency: null, source: null, key_id: null }
      const quantity = sum(quantities)
      return { operation, meter: price.meter, quantity, price_version: version, ...free }
    },
    hold: async () => undefined,
    capture: async () => 0,
    release: async () => undefined,
    extend: async () => true,
    planOf,
  }
}

/** With a payment processor that sells it, the plan is what is paid for, to the instant. */
const paidPlanOf: Billing['planOf'] = async ({ payments }, accountId, now) =>
  planBySubscriptions(await payments.subscriptions(accountId), now)

interface Ports {
  readonly mode: BillingMode
  readonly processing?: Processing | undefined
  readonly currency: string
  readonly prices: Prices
  readonly engine: Pick<Engine, 'publishIn' | 'newEvent'>
  readonly clock: Pick<Clock, 'now'>
  readonly newId: () => string
}

/** Billing by the ledger of the platform store. */
export function createBilling(ports: Ports): Billing {
  const { mode, currency, prices, processing, engine, clock, newId } = ports
  const sellsPlan = processing?.processor.capabilities.subscriptions === true

  /** The work that costs something, each with an amount to hold. */
  function holdsOf(asked: HoldRequest): readonly NewHold[] {
    const { works, lifetime = DAY, by, readsBilling: _, ...others } = asked
    const { version, price } = priceOf(prices, asked.operation, asked.now)
    const { meter, price_micros, per, minimum_micros } = price
    return works
      .map(({ operation_id, quantity }) => ({
        ...others,
        operation_id,
        quantity,
        meter,
        id: newId(),
        key_id: by.type === 'key' ? by.id : null,
        amount: costOf(price, quantity),
        price_version: version,
        price: { price_micros, per, minimum_micros },
        deadline_at: asked.now + lifetime,
        actor: by,
      }))
      .filter(({ amount }) => amount > 0)
  }

  /** Work that was accepted again once it cost nothing has no other hold. */
  function isFree({ operation, quantity }: HoldRecord, now: Instant): boolean {
    const price = prices.at(now).operations[operation]
    return price !== undefined && costOf(price, quantity) === 0
  }

  return {
    mode,
    metered: true,
    currency,
    prices,
    processing,
    sellsPlan,
    async quote(reads, asked) {
      const { operation, quantities, now, account_id, by } = asked
      const { version, price } = priceOf(prices, operation, now)
      const required = sum(quantities.map((quantity) => costOf(price, quantity)))
      const budgets = await budgetsOf(reads.keys, account_id, by)
      const limits = await reads.ledger.limits(account_id, budgets, now)
      const refusal = refusing(limits, required)
      return {
        operation,
        meter: price.meter,
        quantity: sum(quantities),
        price_version: version,
        required,
        available: asked.readsBilling === true ? tightest(limits).available : null,
        currency,
        source: refusal?.source ?? null,
        key_id: shownKey(asked, refusal?.key_id ?? null),
      }
    },
    async hold(tx, asked) {
      const holds = holdsOf(asked)
      if (holds.length === 0) return
      const { account_id, operation, by, now } = asked
      const outcome = await tx.ledger.hold(holds, await budgetsOf(tx.keys, account_id, by))
      if (!outcome.held) {
        const key_id = shownKey(asked, outcome.key_id)
        const debt = asked.readsBilling === true ? outcome.debt : null
        throw insufficientBalance({ ...outcome, operation, currency, key_id, debt })
      }
      await publishLow(engine, tx, account_id, currency, outcome.low, now)
    },
    async capture(tx, work, quantity) {
      const now = clock.now()
      const end = await tx.ledger.capture(
        work,
        (hold) => {
          const used = quantity ?? hold.quantity
          return { quantity: used, amount: costOf(hold.price, used) }
        },
        now,
      )
      await publishLow(engine, tx, work.account_id, currency, end?.low ?? null, now)
      return end?.captured ?? 0
    },
    async release(tx, work) {
      const now = clock.now()
      const end = await tx.ledger.release(work, now)
      await publishLow(engine, tx, work.account_id, currency, end?.low ?? null, now)
    },
    async extend(tx, work, until) {
      if (await tx.ledger.extend(work, until)) return true
      const hold = await tx.ledger.getHold(work)
      return hold?.state !== 'expired' || isFree(hold, clock.now())
    },
    planOf: sellsPlan ? paidPlanOf : planOf,
  }
}

/** How long the hold for work must last that begins now: beyond every attempt of its job. */
export function holdUntil({ deadline_at }: Pick<LeasedJob, 'deadline_at'>, now: Instant): Instant {
  return (deadline_at ?? now + DAY) + HOUR
}

/** The key whose budget refuses: to a caller that may not read billing, its own alone. */
function shownKey({ by, readsBilling }: Charged, keyId: string | null): string | null {
  return readsBilling === true || keyId === by.id ? keyId : null
}

/** A sum that stays an exact number. */
function sum(amounts: readonly number[]): number {
  return Math.min(
    MAX_MICROS,
    amounts.reduce((all, one) => all + one, 0),
  )
}

/** The scope that reads balances and limits. It may be undeclared: work is charged without the family too. */
const READS = 'billing:read' as RequiredScope

/** Who has work done, and whether they may read what limits it: as `GET /v1/billing/limits` decides. */
export function payerOf(principal: Principal): Pick<Charged, 'by' | 'readsBilling'> {
  const readsBilling = !isPinned(principal) && allows(principal.authority.scopes, READS)
  return { by: creatorOf(principal), readsBilling }
}
