import { defineErrors } from '../../../lib/errors.ts'
import { defineFamily } from '../../operations/family.ts'
import { resumeSending } from './operations/resume.ts'
import { sendingStatus } from './operations/status.ts'

/** Whether deliveries are sent, or held back in a restored database. */
export const sendingFamily = defineFamily({
  name: 'sending',
  scopes: {},
  events: [],
  errors: defineErrors({}),
  operations: [sendingStatus, resumeSending],
})
