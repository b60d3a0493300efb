import { defineErrors } from '../../../lib/errors.ts'

export const operatorError = defineErrors({
  invalid_operator_token: {
    status: 401,
    text: 'This is not the operator token of this service, or KEYHOOK_OPERATOR_TOKEN is not set.',
  },
})
