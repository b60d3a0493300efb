import { defineErrors } from '../../../lib/errors.ts'

export const observeError = defineErrors({
  error_not_found: { status: 404, text: 'The app has no error with this id.' },
})
