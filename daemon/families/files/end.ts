import type { FileEnd } from '../../../plugins/platform/contract/files.ts'
import type { Platform } from '../../platform.ts'
import type { Held } from './claim.ts'

/**
 * Ends a claimed file, settles what it costs and tells of it, all or nothing: whose claim is lost tells nothing.
 */
export async function endFile(
  { store, engine, billing, clock }: Pick<Platform, 'store' | 'engine' | 'billing' | 'clock'>,
  { file, claim }: Held,
  end: FileEnd,
): Promise<void> {
  const { id: file_id, app_id, account_id } = file
  const isProcessed = end.status === 'processed'
  const type = isProcessed ? 'file.processed' : 'file.failed'
  const told = isProcessed ? { chunks: end.chunks } : { error: { ...end.error } }
  await store.write(async (tx) => {
    const now = clock.now()
    if (!(await tx.files.finish(file_id, claim, now, end))) return
    await (isProcessed ? billing.capture(tx, file_id) : billing.release(tx, file_id))
    // Identifiers only: whoever may register a webhook receives it, without `files:read`.
    const data = { app_id, file_id, ...told }
    await engine.publishIn(tx, [engine.newEvent(account_id, type, data, now, app_id)])
  })
}
