import type { Stripe } from 'stripe'
import type {
  CheckoutKind,
  CheckoutRequest,
  CheckoutSession,
  NewCustomer,
  PortalRequest,
} from '../contract.ts'
import { ProcessorError } from '../contract.ts'
import { minorOf } from './amounts.ts'
import type { StripeClient } from './client.ts'
import { listAll } from './fetch.ts'
import { instantOf } from './map.ts'
import * as shapes from './shapes.ts'

/** What is sold. */
export interface Offer {
  /** In upper case. */
  readonly currency: string
  readonly pricePro: string
}

type SessionParams = Stripe.Checkout.SessionCreateParams

/** The ledger has one currency: Stripe must not offer the customer's own. */
const ONE_CURRENCY = { adaptive_pricing: { enabled: false } } as const

/** What differs by the kind of a checkout. Prices are sent by us, and cards are asked for by Stripe's page. */
const PARAMS: Readonly<
  Record<CheckoutKind, (asked: CheckoutRequest, offer: Offer) => SessionParams>
> = {
  topup: ({ amount_micros, id }, offer) => {
    const unit_amount = minorOf(amount_micros, offer.currency)
    const product_data = { name: 'Credit' }
    return {
      mode: 'payment',
      line_items: [
        { quantity: 1, price_data: { currency: lower(offer), unit_amount, product_data } },
      ],
      payment_intent_data: { metadata: { keyhook_checkout: id } },
      ...ONE_CURRENCY,
    }
  },
  subscribe: ({ id }, { pricePro }) => ({
    mode: 'subscription',
    line_items: [{ quantity: 1, price: pricePro }],
    subscription_data: { metadata: { keyhook_checkout: id } },
    ...ONE_CURRENCY,
  }),
  payment_method: (_, offer) => ({ mode: 'setup', currency: lower(offer) }),
}

function lower({ currency }: Offer): string {
  return currency.toLowerCase()
}

export async function createCustomer(
  client: StripeClient,
  { account_id, email, key }: NewCustomer,
): Promise<{ readonly customer_id: string }> {
  const params = { metadata: { keyhook_account: account_id }, ...(email === null ? {} : { email }) }
  const { id } = await client.call(
    shapes.CREATED,
    (stripe, options) => stripe.customers.create(params, options),
    { key },
  )
  return { customer_id: id }
}

/** Nothing of the request depends on the time: Stripe refuses another request with the same key. */
export async function createCheckout(
  client: StripeClient,
  asked: CheckoutRequest,
  offer: Offer,
): Promise<CheckoutSession> {
  const params: SessionParams = {
    ...PARAMS[asked.kind](asked, offer),
    customer: asked.customer_id,
    client_reference_id: asked.id,
    success_url: asked.success_url,
    cancel_url: asked.cancel_url,
  }
  const { id, url, expires_at } = await client.call(
    shapes.OPENED,
    (stripe, options) => stripe.checkout.sessions.create(params, options),
    { key: asked.key },
  )
  return { session_id: id, url, expires_at: instantOf(expires_at) }
}

/** A subscription that was paid for on a checkout page charges its own method, whatever the customer's is. */
export async function usePaymentMethod(
  client: StripeClient,
  sessionId: string,
  key: string,
): Promise<void> {
  const { customer, setup_intent } = await client.call(
    shapes.SETUP,
    (stripe, options) =>
      stripe.checkout.sessions.retrieve(sessionId, { expand: ['setup_intent'] }, options),
    {},
  )
  const method = setup_intent?.status === 'succeeded' ? setup_intent.payment_method : null
  if (customer === null || method === null) {
    throw new ProcessorError('not_found', { internal: 'the session collected no payment method' })
  }
  const invoice_settings = { default_payment_method: method }
  await client.call(
    shapes.CHANGED,
    (stripe, options) => stripe.customers.update(customer, { invoice_settings }, options),
    { key },
  )
  const subscriptions = await listAll(client, shapes.CHARGED, (stripe, page, options) =>
    stripe.subscriptions.list({ customer, ...page }, options),
  )
  for (const { id, default_payment_method: own } of subscriptions) {
    if (own === null || own === method) continue
    const change = { default_payment_method: method }
    await client.call(
      shapes.CHANGED,
      (stripe, options) => stripe.subscriptions.update(id, change, options),
      { key: `${key}-${id}` },
    )
  }
}

export async function cancelSubscription(
  client: StripeClient,
  id: string,
  key: string,
): Promise<void> {
  await client.call(
    shapes.CHANGED,
    (stripe, options) => stripe.subscriptions.update(id, { cancel_at_period_end: true }, options),
    { key },
  )
}

/** @param key a new one for each call: a link to the portal is used once */
export function openPortal(
  client: StripeClient,
  { customer_id: customer, return_url }: PortalRequest,
  key: string,
): Promise<{ readonly url: string }> {
  return client.call(
    shapes.PORTAL,
    (stripe, options) => stripe.billingPortal.sessions.create({ customer, return_url }, options),
    { key },
  )
}
