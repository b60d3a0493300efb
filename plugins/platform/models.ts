import { APPS, LEFT_ALIASES, REVISIONS } from './models/apps.ts'
import { DEPLOYMENTS, SITES } from './models/deployments.ts'
import { DOMAINS } from './models/domains.ts'
import { EDITS } from './models/edits.ts'
import { ERROR_GROUPS } from './models/error-groups.ts'
import { FILES } from './models/files.ts'
import {
  HOSTING_CHARGES,
  HOLDS,
  HOLD_LOTS,
  KEY_SPENDING,
  LEDGER_ENTRIES,
  LEDGER_TRANSACTIONS,
  LOTS,
  PRICE_VERSIONS,
  USAGE_DAYS,
  WALLETS,
} from './models/ledger.ts'
import { JOBS, JOB_LINES } from './models/jobs.ts'
import {
  ACCESS_LINES,
  APP_CHECKS,
  APP_PROBES,
  APP_USAGE,
  OBSERVERS,
} from './models/observations.ts'
import {
  BILLING_CUSTOMERS,
  CHARGES,
  CHARGE_ITEMS,
  CHECKOUTS,
  INVOICES,
  PROCESSOR_EVENTS,
  PROCESSOR_SWEEPS,
  SUBSCRIPTIONS,
} from './models/payments.ts'
import { PORTAL_SESSIONS } from './models/portal-sessions.ts'
import { SERVICES, SERVICE_SECRETS } from './models/services.ts'
import { SIGN_IN } from './models/sign-in.ts'
import { AGENT_MESSAGES, AGENT_PUSHES, AGENT_TASKS } from './models/tasks.ts'

/** Models whose rows are deleted with their app. */
export const OF_APP = [
  ACCESS_LINES,
  APP_CHECKS,
  APP_PROBES,
  APP_USAGE,
  DEPLOYMENTS,
  DOMAINS,
  EDITS,
  ERROR_GROUPS,
  JOBS,
  REVISIONS,
  SERVICES,
  SERVICE_SECRETS,
  SIGN_IN,
  SITES,
] as const

/** Every model. Rows of the others are kept when an app is deleted, or deleted by code of their own. */
export const MODELS = [
  ...OF_APP,
  APPS,
  FILES,
  JOB_LINES,
  LEFT_ALIASES,
  OBSERVERS,
  HOLDS,
  HOLD_LOTS,
  HOSTING_CHARGES,
  KEY_SPENDING,
  LEDGER_ENTRIES,
  LEDGER_TRANSACTIONS,
  LOTS,
  PRICE_VERSIONS,
  USAGE_DAYS,
  WALLETS,
  BILLING_CUSTOMERS,
  CHARGES,
  CHARGE_ITEMS,
  CHECKOUTS,
  INVOICES,
  PROCESSOR_EVENTS,
  PROCESSOR_SWEEPS,
  SUBSCRIPTIONS,
  AGENT_MESSAGES,
  AGENT_PUSHES,
  AGENT_TASKS,
  PORTAL_SESSIONS,
] as const
