import { z } from 'zod'
import { invalid, type Refusal } from './refusal.ts'

const TEXT = z.string().max(5000)
const ID = z.string().min(1).max(255)
const URL_TEXT = z.url({ protocol: /^https?$/, error: 'Not a valid URL' }).max(2048)
const BOOLEAN = z.enum(['true', 'false']).transform((text) => text === 'true')
const INTEGER = z
  .string()
  .regex(/^-?\d{1,15}$/, 'Invalid integer')
  .transform(Number)
const POSITIVE = INTEGER.refine(
  (value) => value > 0,
  'This value must be greater than or equal to 1.',
)
const METADATA = z.record(z.string().max(40), z.string().max(500))
const EXPAND = z.array(TEXT).optional()
const CREATED = z
  .strictObject({
    gt: INTEGER.optional(),
    gte: INTEGER.optional(),
    lt: INTEGER.optional(),
    lte: INTEGER.optional(),
  })
  .optional()

/** What a request without parameters may have. */
export const RETRIEVE = z.strictObject({ expand: EXPAND })

const PAGE = {
  limit: INTEGER.refine((value) => value >= 1 && value <= 100, 'Invalid limit').optional(),
  starting_after: ID.optional(),
  ending_before: z.never('The fake pages forward only').optional(),
  expand: EXPAND,
}
export type PageQuery = z.infer<typeof PAGED>
export const PAGED = z.strictObject({ ...PAGE, created: CREATED })

export const LISTS = {
  customers: z.strictObject({ ...PAGE, created: CREATED, email: TEXT.optional() }),
  payment_methods: z.strictObject({ ...PAGE, customer: ID.optional(), type: TEXT.optional() }),
  sessions: z.strictObject({
    ...PAGE,
    created: CREATED,
    customer: ID.optional(),
    status: z.enum(['open', 'complete', 'expired']).optional(),
  }),
  subscriptions: z.strictObject({
    ...PAGE,
    created: CREATED,
    customer: ID.optional(),
    status: TEXT.optional(),
  }),
  invoices: z.strictObject({
    ...PAGE,
    created: CREATED,
    customer: ID.optional(),
    status: z.enum(['draft', 'open', 'paid', 'uncollectible', 'void']).optional(),
    subscription: ID.optional(),
  }),
  invoice_payments: z.strictObject({ ...PAGE, invoice: ID.optional(), status: TEXT.optional() }),
  refunds: z.strictObject({
    ...PAGE,
    created: CREATED,
    charge: ID.optional(),
    payment_intent: ID.optional(),
  }),
  disputes: z.strictObject({
    ...PAGE,
    created: CREATED,
    charge: ID.optional(),
    payment_intent: ID.optional(),
  }),
  events: z.strictObject({
    ...PAGE,
    created: CREATED,
    type: TEXT.optional(),
    types: z.array(TEXT).min(1).max(20, 'You can filter by up to 20 types').optional(),
  }),
} as const

export const NEW_CUSTOMER = z.strictObject({
  email: z.string().max(512).includes('@', { error: 'Invalid email address' }).optional(),
  metadata: METADATA.optional(),
  name: TEXT.optional(),
})

export const CUSTOMER_CHANGES = z.strictObject({
  email: z.string().max(512).includes('@').optional(),
  metadata: METADATA.optional(),
  invoice_settings: z.strictObject({ default_payment_method: ID }).optional(),
})

const LINE_ITEM = z.strictObject({
  quantity: POSITIVE,
  price: ID.optional(),
  price_data: z
    .strictObject({
      currency: z.string().regex(/^[a-z]{3}$/, 'Invalid currency: it must be in lower case'),
      unit_amount: POSITIVE,
      product_data: z.strictObject({ name: TEXT.min(1) }),
    })
    .optional(),
})

export type NewSession = z.infer<typeof NEW_SESSION>
export const NEW_SESSION = z.strictObject({
  mode: z.enum(['payment', 'subscription', 'setup']),
  customer: ID.optional(),
  client_reference_id: z.string().max(200).optional(),
  line_items: z.array(LINE_ITEM).min(1).max(100).optional(),
  success_url: URL_TEXT,
  cancel_url: URL_TEXT.optional(),
  currency: z
    .string()
    .regex(/^[a-z]{3}$/)
    .optional(),
  expires_at: INTEGER.optional(),
  metadata: METADATA.optional(),
  adaptive_pricing: z.strictObject({ enabled: BOOLEAN }).optional(),
  payment_intent_data: z.strictObject({ metadata: METADATA }).optional(),
  subscription_data: z.strictObject({ metadata: METADATA }).optional(),
})

export const SUBSCRIPTION_CHANGES = z.strictObject({
  cancel_at_period_end: BOOLEAN.optional(),
  default_payment_method: ID.optional(),
  metadata: METADATA.optional(),
})

export const NEW_REFUND = z.strictObject({ charge: ID, amount: POSITIVE.optional() })

export const NEW_PORTAL = z.strictObject({ customer: ID, return_url: URL_TEXT.optional() })

export const NOTHING = z.strictObject({})

/** @throws Refusal for a parameter that is unknown, missing or wrong */
export function readParams<Schema extends z.ZodType>(
  schema: Schema,
  given: Record<string, unknown>,
): z.infer<Schema> {
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw issue === undefined ? invalid('Invalid request') : refusalOf(issue, given)
}

function refusalOf(issue: z.core.$ZodIssue, given: unknown): Refusal {
  if (issue.code === 'unrecognized_keys') {
    const param = nameOf([...issue.path, issue.keys[0] ?? ''])
    return invalid(`Received unknown parameter: ${param}`, { code: 'parameter_unknown', param })
  }
  const param = nameOf(issue.path)
  if (valueAt(given, issue.path) === undefined) {
    return invalid(`Missing required param: ${param}.`, { code: 'parameter_missing', param })
  }
  return invalid(`${issue.message}: ${param}`, { code: 'parameter_invalid', param })
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (value as Readonly<Record<PropertyKey, unknown>> | undefined)?.[name],
    given,
  )
}

function nameOf([first = '', ...rest]: readonly PropertyKey[]): string {
  return `${String(first)}${rest.map((part) => `[${String(part)}]`).join('')}`
}
