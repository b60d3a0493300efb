import { defineErrors } from '../../../lib/errors.ts'
import { defineFamily } from '../../operations/family.ts'
import { masterKeyStatus } from './operations/status.ts'

/** What is sealed at rest, and under which master keys. */
export const sealsFamily = defineFamily({
  name: 'seals',
  scopes: {},
  events: [],
  errors: defineErrors({}),
  operations: [masterKeyStatus],
})
