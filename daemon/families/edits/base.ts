import type { AppBytes } from '../../../plugins/apps/contract.ts'
import type { Tree } from '../../trees/tree.ts'

/** The revision that an edit applies to. */
export interface Base {
  readonly number: number
  readonly tree: Tree
  readonly bytes: AppBytes
}

/** Files of the edit were changed since its base. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError'
}
