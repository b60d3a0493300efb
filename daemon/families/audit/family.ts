import { defineErrors } from '../../../lib/errors.ts'
import { defineFamily } from '../../operations/family.ts'
import { listAudit } from './operations/list.ts'

/** The audit log: every change of an account, for its owners. */
export const auditFamily = defineFamily({
  name: 'audit',
  scopes: {},
  events: [],
  errors: defineErrors({}),
  operations: [listAudit],
})
