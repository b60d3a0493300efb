import { defineFamily } from '../../operations/family.ts'
import { appsFamily } from '../apps/family.ts'
import { observeError } from './errors.ts'
import { followLogs } from './operations/follow-logs.ts'
import { getAppError, listAppErrors } from './operations/read-errors.ts'
import { getHealth } from './operations/get-health.ts'
import { listLogs } from './operations/list-logs.ts'
import { resolveAppError } from './operations/resolve-error.ts'

/** Observation of apps: requests, errors of their pages, and availability. */
export const observeFamily = defineFamily({
  name: 'observe',
  needs: [appsFamily],
  scopes: { observe: ['read'] },
  events: [],
  errors: observeError,
  operations: [listLogs, followLogs, listAppErrors, getAppError, resolveAppError, getHealth],
})
