import type { BillingMode } from '../billing/billing.ts'
import type { Setting } from './setting.ts'
import { optionalSetting, textSetting } from './setting.ts'
import { parseBilling, parseLoopbackUrl, parseCurrency } from './values.ts'

/** Settings of plans, prices and the payment processor. */
export const BILLING_SETTINGS = {
  billing: {
    env: 'KEYHOOK_BILLING',
    doc: 'Billing: none, nothing is charged and every account has all features; internal, work is charged to credit that the operator grants; stripe, credit and Pro are sold by Stripe; or the package or path of a module with paymentProcessor.',
    shown: 'none',
    fallback: 'none',
    parse: parseBilling,
  } satisfies Setting<BillingMode>,
  stripeApiKey: optionalSetting({
    env: 'KEYHOOK_STRIPE_API_KEY',
    doc: 'Secret or restricted API key of Stripe.',
    shown: 'none; needed with KEYHOOK_BILLING=stripe',
    secret: true,
    parse: (text) => text,
  }),
  stripeWebhookSecret: optionalSetting({
    env: 'KEYHOOK_STRIPE_WEBHOOK_SECRET',
    doc: "Signing secret of Stripe's events, sent to /hooks/billing/stripe; several, comma separated, while it is rotated.",
    shown: 'none; needed with KEYHOOK_BILLING=stripe',
    secret: true,
    parse: (text) => text,
  }),
  stripePricePro: optionalSetting({
    env: 'KEYHOOK_STRIPE_PRICE_PRO',
    doc: "Ids of Stripe's prices of the Pro plan, comma separated: the first is sold, and subscribers of the others keep Pro.",
    shown: 'none; needed with KEYHOOK_BILLING=stripe',
    parse: (text) => text,
  }),
  stripeBaseUrl: optionalSetting({
    env: 'KEYHOOK_STRIPE_BASE_URL',
    doc: 'Address of a fake of Stripe on loopback. Refused with a live key.',
    shown: 'https://api.stripe.com',
    parse: parseLoopbackUrl,
  }),
  currency: textSetting({
    env: 'KEYHOOK_CURRENCY',
    doc: 'Currency of all amounts, a code of ISO 4217. Stored at the first start with billing; later changes are refused.',
    shown: 'USD',
    fallback: 'USD',
    parse: parseCurrency,
  }),
  prices: optionalSetting({
    env: 'KEYHOOK_PRICES',
    doc: 'Path of the price file, a JSON file of versions. A version that was in use cannot be changed.',
    shown: 'built-in example prices',
    parse: (text) => text,
  }),
} as const
