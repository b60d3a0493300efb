import { defineErrors } from '../../../lib/errors.ts'

export const billingError = defineErrors({
  amount_out_of_range: {
    status: 400,
    text: 'The amount is too small or too large. details says what is allowed.',
  },
  return_url_not_allowed: {
    status: 400,
    text: 'The address to return to must be of this service: its origin is that of KEYHOOK_BASE_URL.',
  },
  credit_not_found: { status: 404, text: 'There is no granted credit with this id.' },
  invoice_not_found: { status: 404, text: 'There is no invoice with this id.' },
  already_subscribed: { status: 409, text: 'The account has a subscription already.' },
  credit_revoked: { status: 409, text: 'The credit was revoked before.' },
  not_subscribed: { status: 409, text: 'The account has no subscription.' },
  processor_unavailable: {
    status: 503,
    text: 'The payment processor did not answer. Send the same request again later.',
  },
})
