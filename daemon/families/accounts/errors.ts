import { defineErrors } from '../../../lib/errors.ts'

export const accountError = defineErrors({
  invalid_credentials: { status: 401, text: 'The email address or the password is wrong.' },
  setup_closed: {
    status: 403,
    text: 'This setup link is used up, expired or unknown. While nobody can sign in, a restart prints a new one.',
  },
  user_not_found: { status: 404, text: 'There is no user with this email address.' },
  session_not_found: { status: 404, text: 'You have no such session; it may have ended.' },
  account_suspension_unchanged: {
    status: 409,
    text: 'The account is in that state already.',
  },
  plan_managed: {
    status: 409,
    text: 'The plan follows the subscription of the account at the payment processor.',
  },
  account_exists: { status: 409, text: 'An account with this id exists.' },
  email_taken: { status: 409, text: 'There is a user with this email address.' },
})
