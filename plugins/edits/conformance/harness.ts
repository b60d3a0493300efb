import type { ConformanceCase, ConformanceHarness } from '../../conformance.ts'
import type { EditOperation, Editor } from '../contract.ts'

/** What an editor gives the suite; made anew for every case. */
export interface EditHarness extends ConformanceHarness {
  readonly editor: Editor
  /**
   * A prompt that leads this editor to these operations, however often it is given: writes, patches,
   * renames and deletions of `BASE`.
   */
  promptFor(operations: readonly EditOperation[]): string
  /** A prompt that this editor is still carrying out when `tools.progress` has been called once. */
  readonly endlessPrompt: string
  /** One that lacks what it needs to carry out anything; given with the capability `configuration`. */
  openUnconfigured?(): Promise<Editor>
}

export type EditCase = ConformanceCase<EditHarness>
