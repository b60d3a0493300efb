/**
 * The conformance suite of the store: the cases that every implementation must pass.
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
import { againCases } from './conformance/again.ts'
import { deliveryCases } from './conformance/deliveries.ts'
import { disabledCases } from './conformance/disabled.ts'
import { dispatchCases } from './conformance/dispatch.ts'
import { eventCases } from './conformance/events.ts'
import type { StoreCase } from './conformance/harness.ts'
import { joinCases } from './conformance/join.ts'
import { keyChangeCases } from './conformance/key-changes.ts'
import { keyEndCases } from './conformance/key-ends.ts'
import { keyRotationCases } from './conformance/key-rotations.ts'
import { keyCases } from './conformance/keys.ts'
import { lookedAtCases } from './conformance/looked-at.ts'
import { processCases } from './conformance/processes.ts'
import { publishCases } from './conformance/publish.ts'
import { purgeCases } from './conformance/purge.ts'
import { releaseCases } from './conformance/release.ts'
import { requestCases } from './conformance/requests.ts'
import { encryptedSecretCases } from './conformance/encrypted-secrets.ts'
import { settleCases } from './conformance/settle.ts'
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
  ...encryptedSecretCases,
  ...purgeCases,
  ...unitOfWorkCases,
  ...joinCases,
  ...processCases,
]
