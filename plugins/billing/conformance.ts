/**
 * The payment processor's published suite: what every implementation of the contract must show. It plays the
 * customers and their banks through a till, which a processor's test brings along.
 *
 * @example
 * import { test } from 'node:test'
 * import { runCases } from 'keyhook/plugins/conformance'
 * import { processorCases } from 'keyhook/plugins/billing/conformance'
 *
 * const makeHarness = async () => ({ processor, till, now, currency, plan_micros, secrets })
 * const able = ['subscriptions', 'portal', 'payment methods', 'close']
 * runCases(processorCases, makeHarness, (name, run) => void test(name, run), able)
 *
 * @module
 */
import { checkoutCases } from './conformance/checkouts.ts'
import { factCases } from './conformance/facts.ts'
import { receiveCases } from './conformance/receive.ts'
import { subscriptionCases } from './conformance/subscriptions.ts'
import { sweepCases } from './conformance/sweep.ts'
import type { ProcessorCase } from './conformance/till.ts'

export type { Delivery, ProcessorCase, ProcessorHarness, Till } from './conformance/till.ts'

/** All cases, each on a processor of its own. */
export const processorCases: readonly ProcessorCase[] = [
  ...checkoutCases,
  ...receiveCases,
  ...subscriptionCases,
  ...factCases,
  ...sweepCases,
]
