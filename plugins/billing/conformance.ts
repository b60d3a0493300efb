/**
 * The billing's published suite: what every implementation of the contract must show. One that meters claims
 * the capability `metered`; `none` proves the rest.
 *
 * @example
 * import { test } from 'node:test'
 * import { runCases } from 'keyhook/plugins/conformance'
 * import { billingCases } from 'keyhook/plugins/billing/conformance'
 *
 * const makeHarness = async () => ({ billing: createMyBilling(), write, fund, wallet })
 * runCases(billingCases, makeHarness, (name, run) => void test(name, run), ['metered'])
 *
 * @module
 */
import { endCases } from './conformance/ended.ts'
import type { BillingCase } from './conformance/harness.ts'
import { holdCases } from './conformance/held.ts'

export type { BillingCase, BillingHarness } from './conformance/harness.ts'

/** All cases, each on a billing of its own. */
export const billingCases: readonly BillingCase[] = [...holdCases, ...endCases]
