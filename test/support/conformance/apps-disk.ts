import { openDiskBytes } from '../../../plugins/apps/disk.ts'
import type { AppBytes } from '../../../plugins/apps/contract.ts'

/** Opens a folder: what the conformance suite calls in another process. */
export function open(folder: string): Promise<AppBytes> {
  return openDiskBytes({ folder, clock: { now: Date.now } })
}
