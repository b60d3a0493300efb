import { defineErrors } from '../../../lib/errors.ts'
import { defineFamily } from '../../operations/family.ts'
import { masterKeyStatus } from './operations/status.ts'

/** Encrypted secrets by master key. */
export const sealsFamily = defineFamily({
  name: 'seals',
  scopes: {},
  events: [],
  errors: defineErrors({}),
  operations: [masterKeyStatus],
})
