import { defineFamily } from '../../operations/family.ts'
import { appsFamily } from '../apps/family.ts'
import { domainChecks } from './domains/check.ts'
import { settingsError } from './errors.ts'
import { settingsEvents } from './events.ts'
import { createDomain } from './operations/create-domain.ts'
import { deleteDomain, getDomain, listDomains, updateDomain } from './operations/domains.ts'
import { deleteService, getService, listServices } from './operations/services.ts'
import { getAuth, updateAuth } from './operations/auth.ts'
import { putService } from './operations/put-service.ts'
import { verifyDomain } from './operations/verify-domain.ts'

/** Settings of apps: custom domains, required services, and sign-in of their users. */
export const settingsFamily = defineFamily({
  name: 'settings',
  needs: [appsFamily],
  scopes: { settings: ['read', 'write'] },
  events: settingsEvents.types,
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
  jobs: [domainChecks],
})
