/**
 * What is read of Stripe's objects, and nothing else of them: no card data is among it.
 *
 * @module
 */
import { z } from 'zod'

const ID = z.string().min(1).max(255)
/** An id, or the object in its place. */
const LINK = z
  .union([ID, z.object({ id: ID })])
  .transform((one) => (typeof one === 'string' ? one : one.id))
const SECONDS = z.int().nonnegative()
const AMOUNT = z.int()
const CURRENCY = z.string().length(3)

export const ACCOUNT = z.object({ id: ID })
export const CREATED = z.object({ id: ID })
export const CHANGED = z.object({ id: ID })
export const PORTAL = z.object({ url: z.string() })
export const OPENED = z.object({ id: ID, url: z.string(), expires_at: SECONDS })

export const INTENT = z.object({
  status: z.string(),
  amount_received: AMOUNT,
  currency: CURRENCY,
  latest_charge: LINK.nullable(),
})

export const SESSION = z.object({
  id: ID,
  client_reference_id: z.string().nullable(),
  mode: z.enum(['payment', 'subscription', 'setup']),
  status: z.enum(['open', 'complete', 'expired']).nullable(),
  payment_status: z.string(),
  customer: LINK.nullable(),
  subscription: LINK.nullable(),
  payment_intent: INTENT.nullable(),
})

/** A session with what it collected. */
export const SETUP = z.object({
  customer: LINK.nullable(),
  setup_intent: z.object({ status: z.string(), payment_method: LINK.nullable() }).nullable(),
})

export const INVOICE = z.object({
  id: ID,
  number: z.string().nullable(),
  customer: LINK.nullable(),
  status: z.enum(['draft', 'open', 'paid', 'void', 'uncollectible']).nullable(),
  billing_reason: z.string().nullable(),
  amount_due: AMOUNT,
  amount_paid: AMOUNT,
  currency: CURRENCY,
  period_start: SECONDS,
  period_end: SECONDS,
  hosted_invoice_url: z.string().nullish(),
  invoice_pdf: z.string().nullish(),
  parent: z.object({ subscription_details: z.object({ subscription: LINK }).nullish() }).nullable(),
  lines: z.object({
    data: z.array(
      z.object({
        period: z.object({ start: SECONDS, end: SECONDS }),
        pricing: z.object({ price_details: z.object({ price: LINK }).nullish() }).nullable(),
      }),
    ),
  }),
  payments: z
    .object({
      data: z.array(
        z.object({
          status: z.string(),
          amount_paid: AMOUNT.nullish(),
          payment: z.object({ payment_intent: LINK.nullish(), charge: LINK.nullish() }),
        }),
      ),
    })
    .nullish(),
})

/** An invoice in a list. */
export const DUE = z.object({ id: ID, created: SECONDS, effective_at: SECONDS.nullable() })

export const SUBSCRIPTION = z.object({
  id: ID,
  customer: LINK,
  status: z.string(),
  cancel_at: SECONDS.nullable(),
  cancel_at_period_end: z.boolean(),
  created: SECONDS,
  items: z.object({
    data: z.array(z.object({ price: z.object({ id: ID }), current_period_end: SECONDS })),
  }),
})

/** A subscription in a list, with what it charges; null charges what the customer does. */
export const CHARGED = z.object({ id: ID, default_payment_method: LINK.nullable() })

export const CHARGE = z.object({
  id: ID,
  customer: LINK.nullable(),
  amount: AMOUNT,
  currency: CURRENCY,
})
export const REFUND = z.object({
  id: ID,
  amount: AMOUNT,
  currency: CURRENCY,
  status: z.string().nullable(),
})
export const DISPUTE = z.object({
  id: ID,
  amount: AMOUNT,
  currency: CURRENCY,
  balance_transactions: z.array(z.object({ amount: AMOUNT })),
})

export const PRICE = z.object({
  id: ID,
  active: z.boolean(),
  currency: CURRENCY,
  unit_amount: AMOUNT.nullable(),
  recurring: z.object({ interval: z.string(), interval_count: z.int() }).nullable(),
})

export const EVENT = z.object({
  id: ID,
  type: z.string(),
  created: SECONDS,
  data: z.object({ object: z.looseObject({}) }),
})

/** An element of a list, by which the next page is asked for. */
export const LISTED = z.object({ id: ID, customer: LINK.nullish() })

/** A refund or a dispute in a list. */
export const OF_CHARGE = z.object({ id: ID, charge: LINK.nullable() })

/** One page of a list. */
export function pageOf<Shape extends z.ZodType>(shape: Shape) {
  return z.object({ data: z.array(shape), has_more: z.boolean() })
}
