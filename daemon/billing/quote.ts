import { z } from 'zod'
import type { Micros, SpendingLimit } from '../../plugins/platform/contract/ledger.ts'
import { decimal, printMicros } from './money.ts'

/** What work would cost now, and whether it could be paid for. */
export interface Estimate {
  readonly operation: string
  readonly meter: string
  readonly quantity: number
  readonly price_version: string
  readonly required: Micros
  /** Null without metering, and for a caller that may not read billing. */
  readonly available: Micros | null
  readonly currency: string | null
  /** Whose limit would refuse it; null when none would. */
  readonly source: SpendingLimit['source'] | null
  readonly key_id: string | null
}

export const priceQuote = z
  .strictObject({
    dry_run: z.literal(true),
    operation: z.string().meta({ description: 'Charged operation of GET /v1/billing/pricing.' }),
    meter: z.string().meta({ description: 'Unit of the quantity.' }),
    quantity: z.int(),
    price_version: z.string(),
    required_micros: z.int(),
    required: decimal,
    available_micros: z.int().nullable().meta({
      description:
        'What the caller can spend now; null without metering, and for a key without billing:read.',
    }),
    currency: z.string().nullable(),
    sufficient: z.boolean(),
    source: z
      .enum(['wallet', 'account', 'key'])
      .nullable()
      .meta({ description: 'Whose limit would refuse the operation; null when none would.' }),
    key_id: z.string().nullable().meta({
      description:
        'The key whose budget would refuse it; a key without billing:read sees only its own.',
    }),
  })
  .meta({ id: 'PriceQuote' })

/** What `dry_run` answers, and `quote` of an embedded Keyhook. */
export type PriceQuote = z.input<typeof priceQuote>

export function toWireQuote(estimate: Estimate): PriceQuote {
  const { required, available, source, ...others } = estimate
  return {
    dry_run: true,
    ...others,
    required_micros: required,
    required: printMicros(required),
    available_micros: available,
    sufficient: source === null,
    source,
  }
}

export const exampleQuote = {
  dry_run: true,
  operation: 'edits.create',
  meter: 'edits',
  quantity: 1,
  price_version: '2026-12',
  required_micros: 100_000,
  required: '0.10',
  available_micros: 34_800_000,
  currency: 'USD',
  sufficient: true,
  source: null,
  key_id: null,
} as const
