/**
 * The store's published suite: what every implementation of the contract must show.
 *
 * @example
 * import { test } from 'node:test'
 * import { runCases } from 'keyhook/plugins/conformance'
 * import { storeCases } from 'keyhook/plugins/store/conformance'
 *
 * const clock = { now: Date.now }
 * const makeHarness = async () => ({ open: async () => createMemoryStore(), clock })
 * runCases(storeCases, makeHarness, (name, run) => void test(name, run))
 *
 * @module
 */
import { accountCases } from './conformance/accounts.ts'
import { settingCases } from './conformance/app-settings.ts'
import { appCases } from './conformance/apps.ts'
import { appAliasCases } from './conformance/app-aliases.ts'
import { againCases } from './conformance/again.ts'
import { deliveryCases } from './conformance/deliveries.ts'
import { deploymentClaimCases } from './conformance/deployment-claims.ts'
import { deploymentCases } from './conformance/deployments.ts'
import { disabledCases } from './conformance/disabled.ts'
import { dispatchCases } from './conformance/dispatch.ts'
import { domainClaimCases } from './conformance/domain-claims.ts'
import { domainCases } from './conformance/domains.ts'
import { editClaimCases } from './conformance/edit-claims.ts'
import { editCases } from './conformance/edits.ts'
import { eventCases } from './conformance/events.ts'
import { fileClaimCases } from './conformance/file-claims.ts'
import { fileNearestCases } from './conformance/file-nearest.ts'
import { fileSearchCases } from './conformance/file-search.ts'
import { fileVectorCases } from './conformance/file-vectors.ts'
import { fileCases } from './conformance/files.ts'
import type { StoreCase } from './conformance/harness.ts'
import { joinCases } from './conformance/join.ts'
import { keyChangeCases } from './conformance/key-changes.ts'
import { keyEndCases } from './conformance/key-ends.ts'
import { keyRotationCases } from './conformance/key-rotations.ts'
import { keyCases } from './conformance/keys.ts'
import { lookedAtCases } from './conformance/looked-at.ts'
import { observationCases } from './conformance/observations.ts'
import { probeCases } from './conformance/probes.ts'
import { problemCases } from './conformance/problems.ts'
import { publishCases } from './conformance/publish.ts'
import { purgeCases } from './conformance/purge.ts'
import { releaseCases } from './conformance/release.ts'
import { requestCases } from './conformance/requests.ts'
import { sealCases } from './conformance/seals.ts'
import { settleCases } from './conformance/settle.ts'
import { siteLookupCases } from './conformance/site-lookups.ts'
import { siteCases } from './conformance/sites.ts'
import { unitOfWorkCases } from './conformance/unit-of-work.ts'
import { webhookCases } from './conformance/webhooks.ts'

export type { OpenTransaction, StoreCase, StoreHarness } from './conformance/harness.ts'

/** Every case of the store, each on an empty store of its own. */
export const storeCases: readonly StoreCase[] = [
  ...accountCases,
  ...keyCases,
  ...keyRotationCases,
  ...keyChangeCases,
  ...keyEndCases,
  ...webhookCases,
  ...eventCases,
  ...publishCases,
  ...dispatchCases,
  ...releaseCases,
  ...settleCases,
  ...disabledCases,
  ...deliveryCases,
  ...againCases,
  ...lookedAtCases,
  ...requestCases,
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
  ...observationCases,
  ...probeCases,
  ...problemCases,
  ...sealCases,
  ...purgeCases,
  ...unitOfWorkCases,
  ...joinCases,
]
