import { createHash } from 'node:crypto'
import { z } from 'zod'
import { parseJson } from '../../lib/internal/json.ts'
import type { Instant } from '../../lib/time.ts'
import { DAY } from '../../lib/time.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { Micros } from '../../plugins/platform/contract/ledger.ts'
import { MAX_MICROS } from '../../plugins/platform/contract/ledger.ts'
import { METERS } from '../../plugins/platform/contract/observations.ts'
import { givenInstant } from '../operations/instants.ts'
import { createInputReader } from '../operations/read-input.ts'

/** Price of a quantity: `price_micros` for every `per` units, at least `minimum_micros`. */
export interface Price {
  readonly price_micros: Micros
  readonly per: number
  readonly minimum_micros: Micros
}

export interface PricedOperation extends Price {
  /** Unit of the quantity, such as `edits` or `bytes`. */
  readonly meter: string
}

/** All prices from an instant on, until those of the next version. */
export interface PriceVersion {
  readonly version: string
  readonly effective_at: Instant
  readonly plans: {
    readonly pro: {
      readonly price_micros: Micros
      /** Credit granted for every paid month. */
      readonly monthly_credit_micros: Micros
      /** Days until that credit expires; null for never. */
      readonly credit_expires_days: number | null
    }
  }
  /** Range of one top-up. */
  readonly topup: { readonly min_micros: Micros; readonly max_micros: Micros }
  readonly operations: Readonly<Record<string, PricedOperation>>
}

/** Versions of prices, oldest first. */
export interface Prices {
  readonly versions: readonly PriceVersion[]
  /** The version that is in effect; the first one before any is. */
  at(now: Instant): PriceVersion
}

/** Begins the operations that price what apps serve, each named by its meter; without a price it is free. */
export const HOSTING = 'hosting.'

/** Operations that Keyhook charges for itself: where it serves them, every version prices them, if only with 0. */
export const OWN_OPERATIONS = ['apps.create', 'edits.create', 'files.upload'] as const

const amount = z.int().min(0).max(MAX_MICROS)
const count = z.int().min(1).max(MAX_MICROS)

const operations = z.record(
  z.string().regex(/^[a-z0-9_]{1,40}(\.[a-z0-9_]{1,40}){1,3}$/, 'An operation is dotted words.'),
  z.strictObject({
    meter: z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'A meter is one lower-case word.'),
    price_micros: amount,
    per: count,
    minimum_micros: amount.default(0),
  }),
)

const priceVersion = z.strictObject({
  version: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, '1 to 64 letters, digits, dots, _ or -.'),
  effective_at: givenInstant,
  plans: z.strictObject({
    pro: z.strictObject({
      price_micros: amount,
      monthly_credit_micros: amount,
      credit_expires_days: z.int().min(1).max(3650).nullable().default(null),
    }),
  }),
  topup: z
    .strictObject({ min_micros: count, max_micros: count })
    .refine(({ min_micros, max_micros }) => min_micros <= max_micros, {
      message: 'min_micros is above max_micros.',
    }),
  operations,
})

const priceFile = z.strictObject({ versions: z.array(priceVersion).min(1).max(1000) })

const readFile = createInputReader(priceFile)

/**
 * Reads a price file.
 *
 * @param needed operations that every version must price
 * @throws Error naming the version and the field
 */
export function readPrices(text: string, needed: readonly string[] = OWN_OPERATIONS): Prices {
  const { value, faults } = readFile(parseJson(text), 'prices')
  if (value === undefined) {
    const [first] = faults ?? []
    throw new Error(`${first?.location ?? ''}: ${first?.message ?? ''}`)
  }
  for (const [at, { effective_at, version, operations }] of value.versions.entries()) {
    const unknown = Object.keys(operations).find(
      (name) => name.startsWith(HOSTING) && !METERS.some((meter) => name === HOSTING + meter),
    )
    if (unknown !== undefined) {
      throw new Error(
        `versions[${at}].operations.${unknown}: Hosting has the meters ${METERS.join(', ')}.`,
      )
    }
    const missing = needed.find((operation) => !Object.hasOwn(operations, operation))
    if (missing !== undefined) {
      throw new Error(`versions[${at}].operations.${missing}: Has no price; 0 makes it free.`)
    }
    const before = value.versions[at - 1]
    if (before !== undefined && before.effective_at >= effective_at) {
      throw new Error(`versions[${at}]: ${version} must begin after ${before.version}`)
    }
    if (value.versions.findIndex((one) => one.version === version) !== at) {
      throw new Error(`versions[${at}]: ${version} is listed twice`)
    }
  }
  return pricesOf(value.versions)
}

function pricesOf(versions: readonly PriceVersion[]): Prices {
  return {
    versions,
    at(now) {
      const current = versions.findLast(({ effective_at }) => effective_at <= now) ?? versions[0]
      if (current === undefined) throw new TypeError('a price list has no version')
      return current
    },
  }
}

/** Prices of an installation without a file of its own: examples to start from. */
export const DEFAULT_PRICES: Prices = readPrices(
  JSON.stringify({
    versions: [
      {
        version: 'default-1',
        effective_at: '1970-01-01T00:00:00Z',
        plans: { pro: { price_micros: 25_000_000, monthly_credit_micros: 25_000_000 } },
        topup: { min_micros: 5_000_000, max_micros: 1_000_000_000 },
        operations: {
          'apps.create': { meter: 'apps', price_micros: 500_000, per: 1 },
          'edits.create': { meter: 'edits', price_micros: 100_000, per: 1 },
          'files.upload': {
            meter: 'bytes',
            price_micros: 20_000,
            per: 1_048_576,
            minimum_micros: 1000,
          },
        },
      },
    ],
  }),
)

/** The text that is kept of a version, and its digest: the same for the same prices. */
export function printVersion(version: PriceVersion): {
  readonly body: string
  readonly sha256: string
} {
  const body = JSON.stringify(version, (_, value: unknown) => sorted(value))
  return { body, sha256: createHash('sha256').update(body).digest('hex') }
}

/**
 * Keeps the price versions that have begun, so that amounts of the ledger can be explained later.
 *
 * @returns a version that was kept with other prices, if there is one
 */
export async function keepPrices(
  tx: Pick<PlatformTx, 'ledger'>,
  { versions }: Prices,
  now: Instant,
): Promise<string | undefined> {
  for (const version of versions.filter(({ effective_at }) => effective_at <= now)) {
    const kept = { version: version.version, ...printVersion(version), first_seen: now }
    if (!(await tx.ledger.keepPriceVersion(kept))) return version.version
  }
  return undefined
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Cost of a quantity, rounded half up once; nothing for nothing, and at most `MAX_MICROS`.
 *
 * @throws RangeError for a quantity that is no whole number from 0 to 2^53 - 1
 * @example
 * costOf({ price_micros: 20_000, per: 1_048_576, minimum_micros: 1000 }, 1024) // 1000
 */
export function costOf({ price_micros, per, minimum_micros }: Price, quantity: number): Micros {
  if (!Number.isSafeInteger(quantity) || quantity < 0) {
    throw new RangeError('a quantity must be a whole number from 0 to 2^53 - 1')
  }
  if (quantity === 0) return 0
  const divisor = 2n * BigInt(per)
  const exact = (2n * BigInt(quantity) * BigInt(price_micros) + BigInt(per)) / divisor
  return Math.max(minimum_micros, exact > BigInt(MAX_MICROS) ? MAX_MICROS : Number(exact))
}

/** When credit of a paid month that begins now expires. */
export function creditExpiry({ plans }: PriceVersion, now: Instant): Instant | null {
  const { credit_expires_days: days } = plans.pro
  return days === null ? null : now + days * DAY
}
