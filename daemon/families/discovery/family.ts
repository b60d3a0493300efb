import { defineErrors } from '../../../lib/errors.ts'
import { defineFamily } from '../../operations/family.ts'
import { discover } from './operations/discover.ts'

/** Discovery: what this service offers, and what the caller may use of it. */
export const discoveryFamily = defineFamily({
  name: 'discovery',
  scopes: { discovery: ['read'] },
  events: [],
  errors: defineErrors({}),
  operations: [discover],
})
