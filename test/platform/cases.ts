import { appAliasCases } from './app-aliases.ts'
import { settingCases } from './app-settings.ts'
import { appCases } from './apps.ts'
import { deploymentClaimCases } from './deployment-claims.ts'
import { deploymentCases } from './deployments.ts'
import { domainClaimCases } from './domain-claims.ts'
import { domainCases } from './domains.ts'
import { editClaimCases } from './edit-claims.ts'
import { editCases } from './edits.ts'
import { fileClaimCases } from './file-claims.ts'
import { fileNearestCases } from './file-nearest.ts'
import { fileSearchCases } from './file-search.ts'
import { fileVectorCases } from './file-vectors.ts'
import { fileCases } from './files.ts'
import type { PlatformCase } from './harness.ts'
import { hostingCases } from './hosting.ts'
import { jobCases } from './jobs.ts'
import { ledgerBudgetCases } from './ledger-budgets.ts'
import { ledgerClawbackCases } from './ledger-clawback.ts'
import { ledgerExpiryCases } from './ledger-expiry.ts'
import { ledgerListCases } from './ledger-lists.ts'
import { ledgerCases } from './ledger.ts'
import { lookedAtCases } from './looked-at.ts'
import { observationCases } from './observations.ts'
import { paymentCases } from './payments.ts'
import { portalSessionCases } from './portal-sessions.ts'
import { probeCases } from './probes.ts'
import { errorGroupCases } from './error-groups.ts'
import { secretCases } from './secrets.ts'
import { siteLookupCases } from './site-lookups.ts'
import { siteCases } from './sites.ts'
import { taskCases } from './tasks.ts'

/** Every case of the platform's nouns, each on an empty store of its own. */
export const platformCases: readonly PlatformCase[] = [
  ...jobCases,
  ...appCases,
  ...appAliasCases,
  ...editCases,
  ...editClaimCases,
  ...deploymentCases,
  ...deploymentClaimCases,
  ...siteCases,
  ...siteLookupCases,
  ...fileCases,
  ...fileClaimCases,
  ...fileSearchCases,
  ...fileNearestCases,
  ...fileVectorCases,
  ...domainCases,
  ...domainClaimCases,
  ...settingCases,
  ...secretCases,
  ...observationCases,
  ...probeCases,
  ...errorGroupCases,
  ...lookedAtCases,
  ...ledgerCases,
  ...ledgerExpiryCases,
  ...ledgerListCases,
  ...ledgerClawbackCases,
  ...ledgerBudgetCases,
  ...paymentCases,
  ...hostingCases,
  ...taskCases,
  ...portalSessionCases,
]
