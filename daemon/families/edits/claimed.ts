import type { AppBytes } from '../../../plugins/apps/contract.ts'
import type { EditRecord } from '../../../plugins/platform/contract/edits.ts'
import type { Tree } from '../../trees/tree.ts'

/** An edit that is being carried out, and the claim under which it is. */
export interface Held {
  readonly edit: EditRecord
  readonly claim: string
}

/** What an edit applies to. */
export interface Base {
  readonly number: number
  readonly tree: Tree
  readonly bytes: AppBytes
}

/** What the edit changes was changed since its base. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError'
}
