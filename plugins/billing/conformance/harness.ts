import assert from 'node:assert/strict'
import { KeyhookError } from '../../../lib/errors.ts'
import type { ConformanceCase, ConformanceHarness } from '../../conformance.ts'
import type { Asked, Billing, BillingTx, Micros } from '../contract.ts'

/** What a billing gives the suite: no account of it has had anything yet. */
export interface BillingHarness<Tx extends BillingTx = BillingTx> extends ConformanceHarness {
  readonly billing: Billing<Tx>
  /** Runs one unit of work, as the store does: it commits when `work` resolves and rolls back when it rejects. */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Lets an account have this much more; given with the capability `metered`. */
  fund?(accountId: string, micros: Micros): Promise<void>
  /** What an account owns, held or not, and how much of it is held; given with `metered`. */
  wallet?(accountId: string): Promise<{ readonly balance: Micros; readonly held: Micros }>
}

export type BillingCase = ConformanceCase<BillingHarness>

export const ACCOUNT = 'acc_1'
export const STRANGER = 'acc_2'

/** Edits of one account. */
export function edits(accountId: string, ...ids: readonly string[]): Asked {
  const works = ids.map((operation_id) => ({ operation_id, quantity: 1 }))
  return { account_id: accountId, operation: 'edits.create', works }
}

export const hold = (harness: BillingHarness, asked: Asked): Promise<void> =>
  harness.write((tx) => harness.billing.hold(tx, asked))

export const capture = (harness: BillingHarness, id: string, quantity?: number): Promise<Micros> =>
  harness.write((tx) => harness.billing.capture(tx, id, quantity))

export const release = (harness: BillingHarness, id: string): Promise<void> =>
  harness.write((tx) => harness.billing.release(tx, id))

/** What one edit costs. */
export async function priceOf({ billing }: BillingHarness): Promise<Micros> {
  const { required_micros } = await billing.estimate(edits(ACCOUNT, 'to know the price'))
  assert.ok(Number.isSafeInteger(required_micros) && required_micros > 0, 'an edit costs something')
  return required_micros
}

/** Lets an account have as much as so many edits cost, and answers what one costs. */
export async function fundEdits(
  harness: BillingHarness,
  count: number,
  accountId: string = ACCOUNT,
): Promise<Micros> {
  const price = await priceOf(harness)
  assert.ok(harness.fund)
  await harness.fund(accountId, count * price)
  return price
}

export async function assertWallet(
  harness: BillingHarness,
  expected: { readonly balance: Micros; readonly held: Micros },
  accountId: string = ACCOUNT,
): Promise<void> {
  assert.ok(harness.wallet)
  assert.deepEqual(await harness.wallet(accountId), expected)
}

/** Asserts that work is refused for want of money, and answers what is said of it. */
export async function refusalOf(
  work: Promise<unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  const cause = await work.then(
    () => assert.fail('it was to be refused'),
    (error: unknown) => error,
  )
  assert.ok(cause instanceof KeyhookError, String(cause))
  assert.deepEqual([cause.code, cause.status], ['insufficient_balance', 402])
  return cause.details ?? {}
}
