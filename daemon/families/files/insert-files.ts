import type { Instant } from '../../../lib/time.ts'
import type { PlatformTx } from '../../../plugins/platform/contract.ts'
import type { FileRecord } from '../../../plugins/platform/contract/files.ts'
import type { Change } from '../audit/note.ts'
import { creatorOf } from '../../authority/principal.ts'
import type { KeptFile } from './keep.ts'
import { MAX_ALL_BYTES, MAX_FILES } from './quota.ts'
import { holdFor, noteFile } from './service.ts'

/** The app of a knowledge file, and its account. */
interface FileOwner {
  readonly app_id: string
  readonly account_id: string
}

/**
 * Inserts records of received files, in their order; undefined for a file beyond the quota. Returns the existing
 * record for bytes that the app has already.
 *
 * @throws KeyhookError `insufficient_balance` when the balance is not enough for all of them
 */
export async function insertFiles(
  call: Omit<Change, 'tx' | 'now'>,
  tx: PlatformTx,
  owner: FileOwner,
  kept: readonly KeptFile[],
): Promise<readonly (FileRecord | undefined)[]> {
  const { platform } = call
  const now = platform.clock.now()
  const used = await tx.files.sum(owner.app_id)
  let { files, bytes } = used
  const taken: (FileRecord | undefined)[] = []
  const made: FileRecord[] = []
  for (const one of kept) {
    const known = await tx.files.bySha256(owner.app_id, one.sha256)
    const fits = one.isKept && files < MAX_FILES && bytes + one.size <= MAX_ALL_BYTES
    if (known === undefined && fits) {
      const file = newFile(call, owner, one, now)
      await tx.files.insert(file)
      await noteFile({ ...call, tx, now }, file, 'file.uploaded')
      files += 1
      bytes += one.size
      taken.push(file)
      made.push(file)
    } else taken.push(known)
  }
  if (made.length > 0) await holdFor({ ...call, tx, now }, owner, made)
  if (files > used.files) tx.afterCommit(() => platform.workAvailable.jobs('file'))
  return taken
}

function newFile(
  { platform, principal }: Pick<Change, 'platform' | 'principal'>,
  owner: FileOwner,
  { name, content_type, size, sha256 }: KeptFile,
  created_at: Instant,
): FileRecord {
  return {
    ...owner,
    name,
    content_type,
    size,
    sha256,
    id: platform.newId(),
    status: 'queued',
    stage: null,
    done: 0,
    total: null,
    chunks: null,
    characters: null,
    error: null,
    attempts: 0,
    created_by: creatorOf(principal),
    created_at,
    processed_at: null,
  }
}
