import type { Micros } from '../contract.ts'
import { ProcessorError } from '../contract.ts'

/** How Stripe writes an amount: integers of its minor unit. */
interface MinorUnit {
  /** Micros of one minor unit. */
  readonly micros: Micros
  /** Charged amounts are multiples of so many minor units. */
  readonly step: number
}

const TWO_DECIMALS: MinorUnit = { micros: 10_000, step: 1 }
const ZERO_DECIMALS: MinorUnit = { micros: 1_000_000, step: 1 }
/** Card networks take two decimals of these: the last digit is 0. */
const THREE_DECIMALS: MinorUnit = { micros: 1000, step: 10 }
/** Written with two decimals and charged in whole units. */
const WHOLE_WITH_TWO_DECIMALS: MinorUnit = { micros: 10_000, step: 100 }

/** Currencies other than those of two decimals. */
const UNITS: Readonly<Record<string, MinorUnit>> = {
  ...each('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF', ZERO_DECIMALS),
  ...each('BHD JOD KWD OMR TND', THREE_DECIMALS),
  ISK: WHOLE_WITH_TWO_DECIMALS,
}

/** Stripe documents these both with and without decimals: an amount could be wrong by a hundred. */
const UNCERTAIN: ReadonlySet<string> = new Set(['UGX'])

/** Whether amounts of a currency can be written for certain. */
export function isCertain(currency: string): boolean {
  return /^[A-Z]{3}$/.test(currency) && !UNCERTAIN.has(currency)
}

/** @throws ProcessorError `rejected` for an amount that the currency cannot express, and for none */
export function minorOf(micros: Micros | null, currency: string): number {
  const unit = UNITS[currency] ?? TWO_DECIMALS
  const isExpressible =
    micros !== null &&
    Number.isSafeInteger(micros) &&
    micros > 0 &&
    micros % (unit.micros * unit.step) === 0
  if (isExpressible) return micros / unit.micros
  throw new ProcessorError('rejected', { internal: `${currency} cannot express the amount` })
}

/** @param currency as Stripe writes it, in lower case */
export function microsOf(minor: number, currency: string): Micros {
  const micros = minor * (UNITS[currency.toUpperCase()] ?? TWO_DECIMALS).micros
  if (Number.isSafeInteger(micros)) return micros
  throw new ProcessorError('unavailable', { internal: 'an amount is beyond what can be counted' })
}

function each(currencies: string, unit: MinorUnit): Readonly<Record<string, MinorUnit>> {
  return Object.fromEntries(currencies.split(' ').map((currency) => [currency, unit]))
}
