import { PASSAGES_AT_ONCE } from '../../../plugins/platform/contract/files.ts'
import type { FileRecord } from '../../../plugins/platform/contract/files.ts'
import type { Leased } from '../../jobs/handler.ts'
import type { Platform } from '../../platform.ts'

/** Deletes passages of earlier attempts at a claimed file. False when the claim is lost. */
export async function clearChunks(
  { store }: Pick<Platform, 'store'>,
  { job: { claim }, subject: file }: Leased<FileRecord>,
): Promise<boolean> {
  for (;;) {
    const cleared = await store.write((tx) => tx.files.clear(file.id, claim, PASSAGES_AT_ONCE))
    if (cleared === undefined) return false
    if (cleared < PASSAGES_AT_ONCE) return true
  }
}
