import { type PlanPrice, ProcessorError, type ProcessorIdentity } from '../contract.ts'
import { microsOf } from './amounts.ts'
import type { StripeClient } from './client.ts'
import { ACCOUNT, PRICE } from './shapes.ts'

/** A restricted key may not read its account. */
export async function identify(
  client: StripeClient,
  live: boolean,
  signal: AbortSignal,
): Promise<ProcessorIdentity> {
  const account_id = await client
    .call(ACCOUNT, (stripe, options) => stripe.accounts.retrieveCurrent({}, options), { signal })
    .then(
      ({ id }) => id,
      () => null,
    )
  return { account_id, live }
}

/**
 * Compares the price at Stripe with the price file's.
 *
 * @throws ProcessorError `misconfigured`
 */
export async function checkPrice(
  client: StripeClient,
  pricePro: string,
  { price_micros, currency }: PlanPrice,
  signal: AbortSignal,
): Promise<{ readonly detail: string }> {
  const price = await client
    .call(PRICE, (stripe, options) => stripe.prices.retrieve(pricePro, {}, options), { signal })
    .catch((error: unknown) => {
      const isMissing = error instanceof ProcessorError && error.code === 'not_found'
      throw isMissing ? wrong(pricePro, 'is not there') : error
    })
  const amount = price.unit_amount === null ? null : microsOf(price.unit_amount, price.currency)
  const found = `${price.currency.toUpperCase()} ${amount}`
  const { interval, interval_count } = price.recurring ?? {}
  if (!price.active) throw wrong(pricePro, 'is not active')
  if (interval !== 'month' || interval_count !== 1)
    throw wrong(pricePro, 'is not billed each month')
  if (found !== `${currency} ${price_micros}`) {
    throw wrong(
      pricePro,
      `costs ${found} micros, and KEYHOOK_PRICES says ${currency} ${price_micros}`,
    )
  }
  return { detail: `${pricePro} costs ${found} micros a month` }
}

function wrong(price: string, what: string): ProcessorError {
  return new ProcessorError('misconfigured', { internal: `the price ${price} ${what}` })
}
