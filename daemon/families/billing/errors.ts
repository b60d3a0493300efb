import { defineErrors } from '../../../lib/errors.ts'

export const billingError = defineErrors({
  amount_out_of_range: {
    status: 400,
    text: 'The amount is too small or too large. details says what is allowed.',
  },
  credit_not_found: { status: 404, text: 'There is no granted credit with this id.' },
  credit_revoked: { status: 409, text: 'The credit was revoked before.' },
})
