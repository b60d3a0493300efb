import { defineFamily } from '../../operations/family.ts'
import { appsFamily } from '../apps/family.ts'
import { settingsError } from './errors.ts'
import { settingsEvents } from './events.ts'
import { createDomain } from './operations/create-domain.ts'
import { deleteDomain } from './operations/delete-domain.ts'
import { deleteService } from './operations/delete-service.ts'
import { getAuth } from './operations/get-auth.ts'
import { getDomain } from './operations/get-domain.ts'
import { getService } from './operations/get-service.ts'
import { listDomains } from './operations/list-domains.ts'
import { listServices } from './operations/list-services.ts'
import { putService } from './operations/put-service.ts'
import { updateAuth } from './operations/update-auth.ts'
import { updateDomain } from './operations/update-domain.ts'
import { verifyDomain } from './operations/verify-domain.ts'

/** Settings of apps: hosts of their own, services that they need, and how their users sign in. */
export const settingsFamily = defineFamily({
  name: 'settings',
  needs: [appsFamily],
  scopes: { settings: ['read', 'write'] },
  events: settingsEvents,
  errors: settingsError,
  operations: [
    listDomains,
    createDomain,
    getDomain,
    updateDomain,
    deleteDomain,
    verifyDomain,
    listServices,
    putService,
    getService,
    deleteService,
    getAuth,
    updateAuth,
  ],
})
