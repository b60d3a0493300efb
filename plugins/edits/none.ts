import type { Editor } from './contract.ts'
import { EditError } from './contract.ts'

/** Stands where no model is configured: it is not available and refuses every task. */
export function createNoEditor(): Editor {
  return {
    available: false,
    carryOut: () => Promise.reject(new EditError('model_not_configured')),
  }
}
