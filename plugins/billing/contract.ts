/**
 * Payment for work: money is held when work is accepted, captured when it completes, and released when it
 * fails.
 *
 * Each of these happens in the unit of work that accepts or ends the work, so that both commit or neither
 * does. Units are serializable. Repeating a call with the same operation id changes nothing: the first capture
 * or release wins. Reading, deleting and canceling are not billed.
 *
 * An implementation proves itself with `conformance`.
 *
 * @module
 */
import { COUNT, NAME, declareArguments, oneOf, optionsOf } from '../../lib/internal/arguments.ts'
import type { EngineTx } from '../../lib/engine/ports.ts'
import type { ErrorTable, KeyhookError } from '../../lib/errors.ts'
import { defineErrors } from '../../lib/errors.ts'

/** Billed operations. */
export type BilledOperation =
  /** Quantity: apps created by prompt. */
  | 'apps.create'
  /** Quantity: edits by prompt. */
  | 'edits.create'
  /** Quantity: bytes of processed files, including retries. */
  | 'files.upload'

/** `none`: nothing is metered; `internal`: by credit that the operator grants; `stripe`: by a processor. */
export type BillingMode = 'none' | 'internal' | 'stripe'

/** Money in millionths of the currency's unit: integers from 0 to below 2^53. */
export type Micros = number

/** Work to be accepted, of one operation and account. */
export interface Asked {
  readonly account_id: string
  readonly operation: BilledOperation
  /** Held for as a whole or not at all. */
  readonly works: readonly Work[]
}

export interface Work {
  /** Id of the edit or the file: unique among all billed work. */
  readonly operation_id: string
  /** Positive integer, in units of the operation. */
  readonly quantity: number
}

/** Required and available money. */
export interface Estimate {
  readonly required_micros: Micros
  /** Null without metering: nothing is refused. */
  readonly available_micros: Micros | null
  /** Such as `USD`; null without metering. */
  readonly currency: string | null
}

/**
 * A unit of work of the store. An implementation whose books are in that store gets the store's own; another
 * one publishes its changes only after the unit has committed.
 */
export type BillingTx = Pick<EngineTx, 'afterCommit'>

export interface Billing<Tx extends BillingTx = BillingTx> {
  readonly mode: BillingMode
  /** The amount that `hold` would take now, without a guarantee. */
  estimate(asked: Asked): Promise<Estimate>
  /**
   * Holds the maximum cost of works. Work that is held or captured is skipped; released work may be held again.
   * When units race for the last of an account's money, later ones are refused: the available balance is never
   * negative.
   *
   * @throws KeyhookError `insufficient_balance`, having held nothing
   */
  hold(tx: Tx, asked: Asked): Promise<void>
  /**
   * Captures the payment for completed work, and releases the rest of the hold. Returns the captured amount: 0
   * for work without a hold, because it was accepted without metering or was released.
   *
   * @param quantity actual quantity; at most the hold is captured. Default: all of the hold
   */
  capture(tx: Tx, operationId: string, quantity?: number): Promise<Micros>
  /** Releases the hold for failed work. Captured payment stays captured. */
  release(tx: Tx, operationId: string): Promise<void>
}

export type BillingErrorCode = 'insufficient_balance'

export const billingError: ErrorTable<BillingErrorCode> = defineErrors<BillingErrorCode>({
  insufficient_balance: {
    status: 402,
    text: 'The balance is too low for this. Top it up, or wait until work in progress has ended.',
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

/** The error of work that costs more than is available; `source` is whose limit it is. */
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
