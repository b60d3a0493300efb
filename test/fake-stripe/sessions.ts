import type { Checkouts } from './checkout.ts'
import type { FakeSession } from './objects.ts'
import type { NewSession } from './params.ts'
import { invalid } from './refusal.ts'
import type { FakeState } from './state.ts'

/** Least amounts that Stripe charges, in minor units. */
const LEAST: Readonly<Record<string, number>> = { usd: 50, eur: 50, gbp: 30, jpy: 50 }
const THREE_DECIMALS: ReadonlySet<string> = new Set(['bhd', 'jod', 'kwd', 'omr', 'tnd'])
const MOST = 99_999_999

/** Creates a checkout session, and refuses what the real service would refuse. */
export function createSession(
  state: FakeState,
  checkouts: Checkouts,
  given: NewSession,
): FakeSession {
  const { mode, customer = null, line_items = [], expires_at } = given
  if (customer !== null) state.get('customers', customer, 'customer')
  assertFits(given)
  if (expires_at !== undefined) assertExpiry(expires_at - state.now())
  const prices = line_items.map((item, at) => {
    const { price, price_data } = item
    const param = `line_items[${at}]`
    if (price !== undefined) return priceOf(state, price, mode, param)
    if (price_data === undefined) throw invalid('A price is required', { param })
    if (mode === 'subscription') throw invalid('The price must be recurring', { param })
    assertAmount(price_data.unit_amount, price_data.currency, `${param}[price_data][unit_amount]`)
    return { id: null, amount: price_data.unit_amount, currency: price_data.currency }
  })
  const total = line_items.reduce(
    (sum, { quantity }, at) => sum + quantity * (prices[at]?.amount ?? 0),
    0,
  )
  const currency = prices[0]?.currency ?? given.currency ?? null
  if (prices.some((price) => price.currency !== currency)) throw invalid('Mixed currencies')
  if (mode === 'payment') assertTotal(total, currency ?? '')
  return checkouts.open(
    {
      mode,
      customer,
      client_reference_id: given.client_reference_id ?? null,
      success_url: given.success_url,
      cancel_url: given.cancel_url ?? null,
      currency,
      amount_total: mode === 'setup' ? null : total,
      expires_at,
    },
    { price: prices[0]?.id ?? null },
  )
}

/** Parameters that belong to another mode. */
function assertFits(given: NewSession): void {
  const { mode } = given
  const wrong = (param: string): never => {
    throw invalid(`You can not pass \`${param}\` in \`${mode}\` mode.`, { param })
  }
  if (mode === 'setup') {
    if (given.line_items !== undefined) wrong('line_items')
    const param = 'currency'
    if (given.currency === undefined) throw invalid(`Missing required param: ${param}.`, { param })
  } else if (given.line_items === undefined) {
    throw invalid('Missing required param: line_items.', { param: 'line_items' })
  }
  if (mode !== 'payment' && given.payment_intent_data !== undefined) wrong('payment_intent_data')
  if (mode !== 'subscription' && given.subscription_data !== undefined) wrong('subscription_data')
}

function assertExpiry(seconds: number): void {
  if (seconds >= 30 * 60 && seconds <= 24 * 60 * 60) return
  throw invalid('The `expires_at` timestamp must be 30 minutes to 24 hours from now.', {
    param: 'expires_at',
  })
}

function priceOf(state: FakeState, id: string, mode: NewSession['mode'], param: string) {
  const price = state.get('prices', id, `${param}[price]`)
  if (!price.active) throw invalid(`The price ${id} is inactive.`, { param })
  const isRecurring = price.recurring !== null
  if (isRecurring !== (mode === 'subscription')) {
    throw invalid(`The price ${id} does not fit \`${mode}\` mode.`, { param })
  }
  return { id, amount: price.unit_amount ?? 0, currency: price.currency }
}

function assertAmount(amount: number, currency: string, param: string): void {
  if (THREE_DECIMALS.has(currency) && amount % 10 !== 0) {
    throw invalid('The last digit of an amount in this currency must be 0.', { param })
  }
  if (currency === 'isk' && amount % 100 !== 0) {
    throw invalid('Currency ISK is charged in whole units: amounts are multiples of 100.', {
      param,
    })
  }
}

function assertTotal(total: number, currency: string): void {
  if (total < (LEAST[currency] ?? 1)) {
    throw invalid('The total amount due is below the minimum.', { code: 'amount_too_small' })
  }
  if (total > MOST) throw invalid('The total amount is too large.', { code: 'amount_too_large' })
}
