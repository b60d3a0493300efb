import type { FileProcessor } from '../../../plugins/files/contract.ts'
import type { FileReads, FileRecord } from '../../../plugins/platform/contract/files.ts'
import { httpError } from '../../operations/errors.ts'
import type { Platform } from '../../platform.ts'
import { accountOf } from '../../authority/principal.ts'
import { payerOf } from '../../billing/billing.ts'
import type { Change } from '../audit/note.ts'
import { audit } from '../audit/note.ts'
import { knowledgeError } from './errors.ts'

export const MAX_FILE_BYTES = 25 * 1_048_576

/** The file processor. @throws KeyhookError `capability_unavailable` without one */
export function processorOf({ plugins: { fileProcessor } }: Platform): FileProcessor {
  if (fileProcessor === undefined) throw httpError('capability_unavailable')
  return fileProcessor
}

export async function findFile(
  files: Pick<FileReads, 'get'>,
  appId: string,
  id: string,
): Promise<FileRecord> {
  const file = await files.get(appId, id)
  if (file === undefined) throw knowledgeError('file_not_found')
  return file
}

/** Holds the price of processing files: all of them or none. */
export async function holdFor(
  { platform, tx, principal, now }: Pick<Change, 'platform' | 'tx' | 'principal' | 'now'>,
  { account_id, app_id }: Pick<FileRecord, 'account_id' | 'app_id'>,
  files: readonly Pick<FileRecord, 'id' | 'size'>[],
): Promise<void> {
  const works = files.map(({ id, size }) => ({ operation_id: id, quantity: size }))
  const operation = 'files.upload'
  await platform.billing.hold(tx, {
    account_id,
    operation,
    app_id,
    ...payerOf(principal),
    works,
    now,
  })
}

/** Records a change of a knowledge file in the audit log. */
export async function noteFile(
  call: Change,
  { id, app_id }: Pick<FileRecord, 'id' | 'app_id'>,
  action: 'file.uploaded' | 'file.deleted' | 'file.retried',
): Promise<void> {
  const account_id = accountOf(call.principal)
  await audit(call, { account_id, action, target_type: 'file', target_id: id, app_id })
}
