import { defineErrors } from '../../../lib/errors.ts'
import { defineFamily } from '../../operations/family.ts'
import { discover } from './operations/discover.ts'

/** Discovery: the features of this service, and those that the caller may use. */
export const discoveryFamily = defineFamily({
  name: 'discovery',
  scopes: { discovery: ['read'] },
  events: [],
  errors: defineErrors({}),
  operations: [discover],
})
