/**
 * Who pays for work: money is held when work is accepted, taken when it is completed, and given back when it
 * comes to nothing.
 *
 * Each of these happens in the unit of work that accepts or ends the work, so that both commit or neither
 * does. Units are as if one after another. Whatever is done again with the same operation id changes nothing:
 * of its ends the first one stands. What only reads, deletes or cancels is never asked about here.
 *
 * An implementation proves itself with `conformance`.
 *
 * @module
 */
import { COUNT, NAME, declareArguments, oneOf, optionsOf } from '../../lib/internal/arguments.ts'
import type { EngineTx } from '../../lib/engine/ports.ts'
import type { ErrorTable, KeyhookError } from '../../lib/errors.ts'
import { defineErrors } from '../../lib/errors.ts'

/** What costs something. */
export type BilledOperation =
  /** Counts apps that a prompt makes. */
  | 'apps.create'
  /** Counts edits by prompt. */
  | 'edits.create'
  /** Counts bytes of files that are processed, also when one that failed is processed again. */
  | 'files.upload'

/** `none`: nothing is metered; `internal`: by credit that the operator grants; `stripe`: by a processor. */
export type BillingMode = 'none' | 'internal' | 'stripe'

/** Money in millionths of the currency's unit: integers from 0 to below 2^53. */
export type Micros = number

/** Work that is about to be accepted, of one operation and account. */
export interface Asked {
  readonly account_id: string
  readonly operation: BilledOperation
  /** All of them are held for, or none. */
  readonly works: readonly Work[]
}

export interface Work {
  /** Of the edit or the file: unique among everything that is ever billed. */
  readonly operation_id: string
  /** A whole number above 0, of what the operation counts. */
  readonly quantity: number
}

/** What work would take, and what there is. */
export interface Estimate {
  readonly required_micros: Micros
  /** Null where nothing is metered: then nothing is ever refused. */
  readonly available_micros: Micros | null
  /** Such as `USD`; null where nothing is metered. */
  readonly currency: string | null
}

/**
 * A unit of work of the store. An implementation whose books are in that store is given the store's own;
 * another keeps to itself what it did in a unit until that has committed.
 */
export type BillingTx = Pick<EngineTx, 'afterCommit'>

export interface Billing<Tx extends BillingTx = BillingTx> {
  readonly mode: BillingMode
  /** What `hold` would take now. It changes nothing and promises nothing. */
  estimate(asked: Asked): Promise<Estimate>
  /**
   * Sets aside what works will cost at most. Work that is held for, or was taken payment for, is passed over;
   * what was released may be held for anew. Of units that race for the last of an account's money, those that
   * come later are refused: what is available is never below zero.
   *
   * @throws KeyhookError `insufficient_balance`, having set nothing aside
   */
  hold(tx: Tx, asked: Asked): Promise<void>
  /**
   * Takes payment for work that is completed, and sets the rest of what was held free. Answers what was taken:
   * 0 for work that was not held for, as it was accepted when nothing was metered, or was released.
   *
   * @param quantity how much it came to; no more than was held for is taken. Default: all of that
   */
  capture(tx: Tx, operationId: string, quantity?: number): Promise<Micros>
  /** Sets free what was held for work that came to nothing. Payment that was taken stays taken. */
  release(tx: Tx, operationId: string): Promise<void>
}

export type BillingErrorCode = 'insufficient_balance'

export const billingError: ErrorTable<BillingErrorCode> = defineErrors<BillingErrorCode>({
  insufficient_balance: {
    status: 402,
    text: 'The balance does not suffice for this. Top it up, or wait until what is under way has ended.',
  },
})

const readBalance = declareArguments('insufficientBalance', {
  details: optionsOf({
    operation: oneOf('apps.create', 'edits.create', 'files.upload'),
    required_micros: COUNT,
    available_micros: COUNT,
    currency: NAME,
    source: oneOf('wallet', 'key', 'account'),
  }),
})

/** Why work is refused that there is not enough money for; `source` is whose limit it is. */
export function insufficientBalance(
  ...args: readonly [
    details: {
      readonly operation: BilledOperation
      readonly required_micros: Micros
      readonly available_micros: Micros
      readonly currency: string
      readonly source: 'wallet' | 'key' | 'account'
    },
  ]
): KeyhookError<BillingErrorCode> {
  const [details] = readBalance(args) as typeof args
  return billingError('insufficient_balance', { details: { ...details } })
}
