import { defineFamily } from '../../operations/family.ts'
import { operatorError } from './errors.ts'
import { listServiceAudit } from './operations/audit.ts'
import { endOperatorSession, getOperatorSession } from './operations/session.ts'
import { operatorSignIn } from './operations/sign-in.ts'
import { listSettings } from './operations/settings.ts'
import { getServiceStatus } from './operations/status.ts'

/** What the operator sees of the whole service, and their sessions in a browser. */
export const operatorFamily = defineFamily({
  name: 'operator',
  scopes: {},
  events: [],
  errors: operatorError,
  operations: [
    operatorSignIn,
    getOperatorSession,
    endOperatorSession,
    getServiceStatus,
    listSettings,
    listServiceAudit,
  ],
})
