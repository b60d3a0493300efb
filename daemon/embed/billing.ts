import { suggest } from '../../lib/internal/nearest.ts'
import type { Creator } from '../../lib/key/record.ts'
import type { Instant } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { HoldState } from '../../plugins/platform/contract/ledger.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { BillingReads, Charged } from '../billing/billing.ts'
import type { PriceQuote } from '../billing/quote.ts'
import { toWireQuote } from '../billing/quote.ts'
import { keyError } from '../families/keys/errors.ts'
import type { Platform } from '../platform.ts'
import { readBilling } from './arguments.ts'
import type { Transactions } from './transactions.ts'

/** Work of your own that is charged. */
export interface OwnWork {
  readonly account_id: string
  /** Your own id of it, unique within the account. */
  readonly operation_id: string
}

/** What work is charged as. */
interface Priced {
  /** An operation that the price file names, such as `reports.create`. */
  readonly operation: string
  /** In units of its meter. Default 1. */
  readonly quantity?: number
  /** The key that has it done: its monthly budget and those of the keys above it limit it too. */
  readonly key_id?: string
}

export interface WorkToQuote extends Priced {
  readonly account_id: string
}

export interface WorkToHold extends OwnWork, Priced {
  /** Seconds until the hold is released unless it was captured: 60 to 604,800, default 86,400. */
  readonly lifetime_seconds?: number
}

export interface WorkToCapture extends OwnWork {
  /** What was used; at most the hold is captured. Default: the quantity of the hold. */
  readonly quantity?: number
}

export interface InTransaction {
  /** Transaction that it commits and rolls back with. Without it, it commits by itself; undefined is refused. */
  readonly transaction?: object
}

/** Of work after `hold`: its price is held, was captured by an earlier call, or is nothing. */
export type WorkState = 'held' | 'captured' | 'free'

export interface EmbeddedBilling {
  quote(work: WorkToQuote, options?: InTransaction): Promise<PriceQuote>
  /**
   * Holds the price of work. Work that was captured before is not held again, and needs not be done again.
   *
   * @throws KeyhookError `insufficient_balance`
   */
  hold(work: WorkToHold, options?: InTransaction): Promise<{ readonly state: WorkState }>
  capture(
    work: WorkToCapture,
    options?: InTransaction,
  ): Promise<{ readonly captured_micros: number }>
  release(work: OwnWork, options?: InTransaction): Promise<void>
}

/** Charges for operations of the embedder, in units of their own or in the embedder's transactions. */
export function createEmbeddedBilling(
  platform: Platform,
  transactions: Transactions,
): EmbeddedBilling {
  const { billing, store, clock } = platform

  function unit<T>(
    { transaction }: InTransaction,
    work: (tx: PlatformTx) => Promise<T>,
  ): Promise<T> {
    if (transaction === undefined) return store.write(work)
    return transactions.inside(transaction, (tx) => tx.atomically(() => work(tx)))
  }

  function requirePriced(callee: string, operation: string, now: Instant): void {
    const { version, operations } = billing.prices.at(now)
    if (Object.hasOwn(operations, operation)) return
    const named = suggest(operation, Object.keys(operations))
    throw new TypeError(
      `${callee}: version ${version} of the prices has no operation ${JSON.stringify(operation)}.${named}`,
    )
  }

  async function chargedAs(
    { keys }: Pick<BillingReads, 'keys'>,
    { account_id, operation, key_id }: WorkToQuote,
    now: Instant,
  ): Promise<Charged> {
    const charged = { account_id, operation, app_id: null, readsBilling: true, now }
    if (key_id === undefined) return { ...charged, by: EMBEDDER }
    // An unknown key would have no budget.
    const [key] = await keys.chain(account_id, key_id)
    if (key === undefined) throw keyError('key_not_found')
    return { ...charged, by: { type: 'key', id: key_id } }
  }

  return {
    async quote(...args) {
      const [work, { transaction } = {}] = readBilling.quote(args) as typeof args
      const now = clock.now()
      requirePriced('billing.quote', work.operation, now)
      const read = async (reads: BillingReads): Promise<PriceQuote> => {
        const charged = await chargedAs(reads, work, now)
        const quantities = [work.quantity ?? 1]
        return toWireQuote(await billing.quote(reads, { ...charged, quantities }))
      }
      return transaction === undefined ? read(store) : transactions.inside(transaction, read)
    },
    async hold(...args) {
      const [work, options = {}] = readBilling.hold(args) as typeof args
      const { operation_id, quantity = 1, lifetime_seconds: lifetime } = work
      const now = clock.now()
      requirePriced('billing.hold', work.operation, now)
      return unit(options, async (tx) => {
        await billing.hold(tx, {
          ...(await chargedAs(tx, work, now)),
          works: [{ operation_id, quantity }],
          ...(lifetime === undefined ? {} : { lifetime: lifetime * SECOND }),
        })
        const hold = await tx.ledger.getHold(work)
        return { state: STATES[hold?.state ?? 'released'] }
      })
    },
    async capture(...args) {
      const [{ quantity, ...work }, options = {}] = readBilling.capture(args) as typeof args
      return unit(options, async (tx) => ({
        captured_micros: await billing.capture(tx, work, quantity),
      }))
    },
    async release(...args) {
      const [work, options = {}] = readBilling.release(args) as typeof args
      await unit(options, (tx) => billing.release(tx, work))
    },
  }
}

/** Of the last hold of work: one that was returned was not made again, so the work costs nothing now. */
const STATES: Readonly<Record<HoldState, WorkState>> = {
  open: 'held',
  captured: 'captured',
  released: 'free',
  expired: 'free',
}

const EMBEDDER: Creator = { type: 'operator', id: null }
