import { PASSAGES_AT_ONCE } from '../../../plugins/platform/contract/files.ts'
import type { FileRecord, FileEnd } from '../../../plugins/platform/contract/files.ts'
import type { Leased } from '../../jobs/handler.ts'
import type { Platform } from '../../platform.ts'
import { fileEvents } from './events.ts'

/**
 * Ends a claimed file, settles its cost and publishes its event, in one unit of work. Does nothing when the claim is
 * lost. Passages of a failed file are deleted first.
 */
export async function endFile(
  platform: Pick<Platform, 'store' | 'engine' | 'billing' | 'clock'>,
  leased: Leased<FileRecord>,
  end: FileEnd,
): Promise<void> {
  const { store, engine, billing, clock } = platform
  const { claim } = leased.job
  const { id: file_id, app_id, account_id } = leased.subject
  const isProcessed = end.status === 'processed'
  if (!isProcessed && !(await clearChunks(platform, leased))) return
  const type = isProcessed ? 'file.processed' : 'file.failed'
  const work = { account_id, operation_id: file_id }
  await store.write(async (tx) => {
    const now = clock.now()
    if (!(await tx.files.finish(file_id, claim, now, end))) return
    const charged_micros = isProcessed ? await billing.capture(tx, work) : 0
    if (!isProcessed) await billing.release(tx, work)
    const result = isProcessed
      ? { chunks: end.chunks, charged_micros }
      : { error: { ...end.error } }
    // Identifiers only: whoever may register a webhook receives it, without `files:read`.
    const data = { app_id, file_id, ...result }
    const event = fileEvents.newEvent(engine, account_id, type, data, now, app_id)
    await engine.publishIn(tx, [event])
  })
}

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
