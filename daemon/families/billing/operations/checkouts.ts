import { z } from 'zod'
import { toIso } from '../../../../lib/time.ts'
import { amountOf, givenAmount, withAmount } from '../../../billing/money.ts'
import { operation } from '../../../operations/operation.ts'
import { anyText, instant } from '../../wire.ts'
import { requireProcessing } from '../ask-processor.ts'
import { returnUrl, startCheckout } from '../checkout.ts'
import { billingError } from '../errors.ts'

const url = anyText(2048).min(1)
const returnTo = url.optional().meta({
  description:
    'Address of this service to return to. Default: a page that says when credit arrives.',
})
const page = url.meta({ description: "The payment processor's page." })

const ERRORS = [
  'owner_required',
  'return_url_not_allowed',
  'billing_not_configured',
  'processor_unavailable',
] as const

const ID = '01930a60-ac96-774b-bcce-b302099a8057'
const PAGE = 'https://checkout.stripe.com/c/pay/cs_test_a1'
const EXPIRES = '2026-11-24T11:00:00.000Z'

export const topUp = operation({
  effect: 'own',
  id: 'billing.topup',
  summary: 'Buy credit on a page of the payment processor',
  method: 'POST',
  path: '/v1/billing/topup',
  access: 'owner',
  agent: { omit: 'A signed-in owner pays; a key cannot.' },
  emits: ['billing'],
  input: { body: withAmount(z.strictObject({ ...givenAmount, return_url: returnTo })) },
  output: z
    .strictObject({
      id: z.string(),
      status: z.enum(['open', 'complete', 'expired', 'failed']),
      checkout_url: page,
      expires_at: instant,
    })
    .meta({ id: 'Topup' }),
  status: 201,
  errors: [...ERRORS, 'amount_out_of_range'],
  example: {
    body: { amount: '10.00' },
    response: { id: ID, status: 'open', checkout_url: PAGE, expires_at: EXPIRES },
  },
  idempotency: 'required',
  stepUp: true,
  command: 'billing topup',
  async run(call) {
    const { platform, body } = call
    requireProcessing(platform)
    const amount = amountOf(body) ?? 0
    const { min_micros, max_micros } = platform.billing.prices.at(call.now).topup
    if (amount < min_micros || amount > max_micros) {
      throw billingError('amount_out_of_range', { details: { min_micros, max_micros } })
    }
    const back = returnUrl(platform, body.return_url)
    const wanted = { kind: 'topup', amount, success_url: back, cancel_url: back } as const
    const { id, status, url: checkout_url, expires_at } = await startCheckout(call, wanted)
    const shown = status === 'created' ? 'open' : status
    return { id, status: shown, checkout_url, expires_at: toIso(expires_at) }
  },
})

export const subscribe = operation({
  effect: 'own',
  id: 'billing.subscribe',
  summary: 'Subscribe to Pro on a page of the payment processor',
  method: 'POST',
  path: '/v1/billing/subscribe',
  access: 'owner',
  agent: { omit: 'A signed-in owner pays; a key cannot.' },
  emits: ['billing'],
  input: {
    body: z.strictObject({
      plan: z.literal('pro'),
      success_url: returnTo,
      cancel_url: returnTo,
    }),
  },
  output: z
    .strictObject({
      id: z.string(),
      checkout_url: page,
      session_id: z.string(),
      expires_at: instant,
    })
    .meta({ id: 'SubscriptionCheckout' }),
  status: 201,
  errors: [...ERRORS, 'already_subscribed'],
  example: {
    body: { plan: 'pro' },
    response: { id: ID, checkout_url: PAGE, session_id: 'cs_test_a1', expires_at: EXPIRES },
  },
  stepUp: true,
  command: 'billing subscribe',
  async run(call) {
    const { platform, body } = call
    requireProcessing(platform, 'subscriptions')
    const wanted = {
      kind: 'subscribe',
      amount: null,
      success_url: returnUrl(platform, body.success_url),
      cancel_url: returnUrl(platform, body.cancel_url),
    } as const
    const { id, url: checkout_url, session_id, expires_at } = await startCheckout(call, wanted)
    return { id, checkout_url, session_id, expires_at: toIso(expires_at) }
  },
})

export const changePaymentMethod = operation({
  effect: 'own',
  id: 'billing.payment_method',
  summary: 'Give another payment method on a page of the payment processor',
  method: 'POST',
  path: '/v1/billing/payment-method',
  access: 'owner',
  agent: { omit: 'A signed-in owner pays; a key cannot.' },
  emits: ['billing'],
  input: { body: z.strictObject({ return_url: returnTo }) },
  output: z
    .strictObject({ id: z.string(), setup_url: page, expires_at: instant })
    .meta({ id: 'PaymentMethodSetup' }),
  status: 201,
  errors: [...ERRORS],
  example: { body: {}, response: { id: ID, setup_url: PAGE, expires_at: EXPIRES } },
  stepUp: true,
  command: 'billing payment-method',
  async run(call) {
    const { platform, body } = call
    requireProcessing(platform, 'paymentMethods')
    const back = returnUrl(platform, body.return_url)
    const wanted = {
      kind: 'payment_method',
      amount: null,
      success_url: back,
      cancel_url: back,
    } as const
    const { id, url: setup_url, expires_at } = await startCheckout(call, wanted)
    return { id, setup_url, expires_at: toIso(expires_at) }
  },
})
