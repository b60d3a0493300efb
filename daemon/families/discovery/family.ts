import { defineErrors } from '../../../lib/errors.ts'
import { defineFamily } from '../../operations/family.ts'
import { getAgentCard } from './operations/agent-card.ts'
import { discover } from './operations/discover.ts'
import { listServices } from './operations/services.ts'

/** Discovery: the features of this service, and those that the caller may use. */
export const discoveryFamily = defineFamily({
  name: 'discovery',
  scopes: { discovery: ['read'] },
  events: [],
  errors: defineErrors({}),
  operations: [discover, listServices, getAgentCard],
})
