/**
 * The deployer's published suite: what every implementation of the contract must show.
 *
 * @example
 * import { test } from 'node:test'
 * import { runCases } from 'keyhook/plugins/conformance'
 * import { deployCases } from 'keyhook/plugins/deploy/conformance'
 *
 * const makeHarness = async () => {
 *   const deployer = createMyDeployer()
 *   return { deployer, close: () => deployer.close() }
 * }
 * runCases(deployCases, makeHarness, (name, run) => void test(name, run))
 *
 * @module
 */
import { activateCases } from './conformance/activate.ts'
import { buildCases } from './conformance/build.ts'
import type { DeployCase } from './conformance/harness.ts'

export type { DeployCase, DeployHarness } from './conformance/harness.ts'

/** All cases, each on a deployer of its own. */
export const deployCases: readonly DeployCase[] = [...buildCases, ...activateCases]
