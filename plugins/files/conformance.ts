/**
 * The published suite for file processors. It needs plain text alone; a processor that also takes Markdown
 * claims the capability `markdown`.
 *
 * @example
 * import { test } from 'node:test'
 * import { runCases } from 'keyhook/plugins/conformance'
 * import { filesCases } from 'keyhook/plugins/files/conformance'
 *
 * const makeHarness = async () => {
 *   const processor = createMyProcessor()
 *   return { processor, close: () => processor.close() }
 * }
 * runCases(filesCases, makeHarness, (name, run) => void test(name, run), ['markdown'])
 *
 * @module
 */
import type { FilesCase } from './conformance/harness.ts'
import { textCases } from './conformance/texts.ts'
import { workCases } from './conformance/work.ts'

export type { FilesCase, FilesHarness } from './conformance/harness.ts'

/** All cases, each on a processor of its own. */
export const filesCases: readonly FilesCase[] = [...textCases, ...workCases]
