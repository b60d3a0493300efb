import { z } from 'zod'
import { MAX_MICROS } from '../../plugins/platform/contract/ledger.ts'
import { exactlyOne, fault } from '../operations/faults.ts'

/** Decimals of an amount in micros. */
const DECIMALS = 6

/**
 * An amount as a decimal string, with 2 to 6 decimals.
 *
 * @example
 * printMicros(-1_250_000) // '-1.25'
 */
export function printMicros(micros: number): string {
  const digits = String(Math.abs(micros)).padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0{1,4}$/, '')
  return `${micros < 0 ? '-' : ''}${digits.slice(0, -DECIMALS)}.${fraction}`
}

/**
 * The amount of a decimal string; undefined for one beyond 2^53 - 1 micros.
 *
 * @param text digits with at most 6 decimals
 */
export function readMicros(text: string): number | undefined {
  const [whole = '', fraction = ''] = text.split('.')
  const micros = Number(whole + fraction.padEnd(DECIMALS, '0'))
  return Number.isSafeInteger(micros) ? micros : undefined
}

/** An amount on the wire as a decimal string. */
export const decimal: z.ZodString = z
  .string()
  .regex(/^-?[0-9]+\.[0-9]{2,6}$/)
  .meta({ description: 'Amount in units of the currency.', example: '12.34' })

/** Fields of a given amount, of which exactly one is sent. */
export const givenAmount = {
  amount_micros: z.int().min(1).max(MAX_MICROS).optional().meta({
    description: 'Amount in millionths of the unit of the currency; instead of amount.',
  }),
  amount: z
    .string()
    .regex(/^(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?$/, 'An amount is such as 12.34.')
    .optional()
    .meta({ description: 'Amount in units of the currency, such as 12.34.', example: '12.34' }),
} as const

interface GivenAmount {
  readonly amount_micros?: number | undefined
  readonly amount?: string | undefined
}

/**
 * A body with an amount.
 *
 * @example
 * const topup = withAmount(z.strictObject({ ...givenAmount, return_url: z.url().optional() }))
 */
export function withAmount<Body extends z.ZodObject>(body: Body): Body {
  return body
    .refine(
      (given) => {
        const { amount, amount_micros } = given as GivenAmount
        return (amount === undefined) !== (amount_micros === undefined)
      },
      fault('exactly_one', 'Send either amount or amount_micros.'),
    )
    .meta(exactlyOne('amount_micros', 'amount'))
}

/** The given amount in micros; undefined for one beyond 2^53 - 1, or of nothing. */
export function amountOf({ amount_micros, amount }: GivenAmount): number | undefined {
  const read = amount_micros ?? readMicros(amount ?? '0')
  return read === 0 ? undefined : read
}
