/**
 * The editor's published suite: what every implementation of the contract must show.
 *
 * @example
 * import { test } from 'node:test'
 * import { runCases } from 'keyhook/plugins/conformance'
 * import { editCases } from 'keyhook/plugins/edits/conformance'
 *
 * const makeHarness = async () => ({
 *   editor: createMemoryEditor(),
 *   promptFor: (operations) => JSON.stringify(operations),
 *   endlessPrompt: ENDLESS_PROMPT,
 * })
 * runCases(editCases, makeHarness, (name, run) => void test(name, run))
 *
 * @module
 */
import { answerCases } from './conformance/answers.ts'
import { endingCases } from './conformance/endings.ts'
import type { EditCase } from './conformance/world.ts'

export type { EditCase, EditHarness } from './conformance/world.ts'

/** Every case of an editor. */
export const editCases: readonly EditCase[] = [...answerCases, ...endingCases]
