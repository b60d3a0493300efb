import type { Editor } from './contract.ts'
import { EditError } from './contract.ts'

/** The editor without a model: unavailable, refuses every task. */
export function createNoEditor(): Editor {
  return {
    available: false,
    carryOut: () => Promise.reject(new EditError('model_not_configured')),
  }
}
