/**
 * The published suite for storage of app bytes.
 *
 * @example
 * import { test } from 'node:test'
 * import { runCases } from 'keyhook/plugins/conformance'
 * import { appBytesCases } from 'keyhook/plugins/apps/conformance'
 *
 * const makeHarness = async () => {
 *   const bytes = createMemoryBytes({ clock: { now: Date.now } })
 *   return { open: async () => bytes, clock: { now: Date.now }, pass: setTimeout }
 * }
 * runCases(appBytesCases, makeHarness, (name, run) => void test(name, run))
 *
 * @module
 */
import { dropCases } from './conformance/drop.ts'
import type { AppBytesCase } from './conformance/samples.ts'
import { listCases } from './conformance/list.ts'
import { memoryUseCases } from './conformance/memory-use.ts'
import { nameCases } from './conformance/names.ts'
import { processCases } from './conformance/processes.ts'
import { putCases } from './conformance/put.ts'
import { readCases } from './conformance/read.ts'
import { refusedCases } from './conformance/refused.ts'
import { removeCases } from './conformance/remove.ts'
import { reopenCases } from './conformance/reopen.ts'

export type { AppBytesCase, AppBytesHarness } from './conformance/samples.ts'

/**
 * All cases, each on storage of its own. Those that require `durable` are for storage that outlives its
 * process, those that require `manyProcesses` for storage that several processes may share.
 */
export const appBytesCases: readonly AppBytesCase[] = [
  ...putCases,
  ...refusedCases,
  ...readCases,
  ...listCases,
  ...removeCases,
  ...dropCases,
  ...nameCases,
  ...reopenCases,
  ...memoryUseCases,
  ...processCases,
]
