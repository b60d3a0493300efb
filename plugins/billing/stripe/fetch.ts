import type { Stripe } from 'stripe'
import type { z } from 'zod'
import type { Instant } from '../../../lib/time.ts'
import { type Fact, type ObjectKind, type ObjectRef, ProcessorError } from '../contract.ts'
import type { StripeClient } from './client.ts'
import * as map from './map.ts'
import type { ProPrices } from './settings.ts'
import * as shapes from './shapes.ts'

/** Most elements of a page that Stripe gives. */
export const PAGE = 100

/** Reads objects as facts. */
export type ReadFacts = (
  client: StripeClient,
  id: string,
  proPrices: ProPrices,
  signal: AbortSignal,
) => Promise<readonly Fact[]>

const READERS: Readonly<Record<ObjectKind, ReadFacts>> = {
  async checkout(client, id, _prices, signal) {
    const expand = ['payment_intent']
    const session = await client.call(
      shapes.SESSION,
      (stripe, options) => stripe.checkout.sessions.retrieve(id, { expand }, options),
      { signal },
    )
    return map.checkoutFact(session)
  },

  async invoice(client, id, proPrices, signal) {
    const expand = ['payments']
    const invoice = await client.call(
      shapes.INVOICE,
      (stripe, options) => stripe.invoices.retrieve(id, { expand }, options),
      { signal },
    )
    const payments: { charge_id: string; amount: number }[] = []
    for (const { intent, charge, amount } of map.paidBy(invoice)) {
      const charge_id = intent === null ? charge : await chargeOf(client, intent, signal)
      if (charge_id !== null) payments.push({ charge_id, amount })
    }
    return map.invoiceFact(invoice, proPrices, payments)
  },

  async subscription(client, id, proPrices, signal) {
    const subscription = await client.call(
      shapes.SUBSCRIPTION,
      (stripe, options) => stripe.subscriptions.retrieve(id, {}, options),
      { signal },
    )
    const isPastDue = map.statusOf(subscription) === 'past_due'
    const since = isPastDue ? await dueSince(client, id, signal) : null
    return [map.subscriptionFact(subscription, proPrices, since)]
  },

  async charge(client, id, _prices, signal) {
    const charge = await client.call(
      shapes.CHARGE,
      (stripe, options) => stripe.charges.retrieve(id, {}, options),
      { signal },
    )
    const refunds = await listAll(
      client,
      shapes.REFUND,
      (stripe, page, options) => stripe.refunds.list({ charge: id, ...page }, options),
      signal,
    )
    const disputes = await listAll(
      client,
      shapes.DISPUTE,
      (stripe, page, options) => stripe.disputes.list({ charge: id, ...page }, options),
      signal,
    )
    return map.chargeFact(charge, refunds, disputes)
  },
}

/** The object as it is now; empty for one that is gone or has another customer than ours could be. */
export async function fetchFacts(
  client: StripeClient,
  { kind, id }: ObjectRef,
  proPrices: ProPrices,
  signal: AbortSignal,
): Promise<readonly Fact[]> {
  try {
    return await READERS[kind](client, id, proPrices, signal)
  } catch (error) {
    if (error instanceof ProcessorError && error.code === 'not_found') return []
    throw error
  }
}

async function chargeOf(
  client: StripeClient,
  intent: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { latest_charge } = await client.call(
    shapes.INTENT,
    (stripe, options) => stripe.paymentIntents.retrieve(intent, {}, options),
    { signal },
  )
  return latest_charge
}

/** When the oldest open invoice became due: a newer one does not prolong the grace. */
async function dueSince(
  client: StripeClient,
  subscription: string,
  signal: AbortSignal,
): Promise<Instant | null> {
  const open = await listAll(
    client,
    shapes.DUE,
    (stripe, page, options) =>
      stripe.invoices.list({ subscription, status: 'open', ...page }, options),
    signal,
  )
  const dates = open.map(({ effective_at, created }) => effective_at ?? created)
  return dates.length === 0 ? null : map.instantOf(Math.min(...dates))
}

/** Where a page begins, and how long it is. */
export interface PageParams {
  readonly limit: number
  readonly starting_after?: string
}

/** All elements of a list, over its pages. */
export async function listAll<Shape extends z.ZodType<{ readonly id: string }>>(
  client: StripeClient,
  shape: Shape,
  send: (stripe: Stripe, page: PageParams, options: Stripe.RequestOptions) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<readonly z.infer<Shape>[]> {
  const all: z.infer<Shape>[] = []
  let page: PageParams = { limit: PAGE }
  for (;;) {
    const sent = page
    const { data, has_more } = await client.call(
      shapes.pageOf(shape),
      (stripe, options) => send(stripe, sent, options),
      signal === undefined ? {} : { signal },
    )
    all.push(...data)
    const last = data.at(-1)
    if (!has_more || last === undefined) return all
    page = { limit: PAGE, starting_after: last.id }
  }
}
