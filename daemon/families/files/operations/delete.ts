import { operation } from '../../../operations/operation.ts'
import { findLiveApp } from '../../apps/service.ts'
import { exampleFile, fileParams, fileRecord, toWireFile } from '../schema.ts'
import { findFile, noteFile } from '../service.ts'

export const deleteFile = operation({
  effect: 'write',
  id: 'files.delete',
  summary: 'Delete a knowledge file and its passages, also while it is processed',
  method: 'DELETE',
  path: '/v1/apps/{app_id}/files/{file_id}',
  access: { scope: 'files:write', pinned: 'allowed' },
  agent: { toolset: 'files' },
  emits: ['files'],
  input: { params: fileParams },
  output: fileRecord,
  errors: ['app_not_found', 'app_archived', 'file_not_found'],
  example: {
    params: { app_id: exampleFile.app_id, file_id: exampleFile.id },
    response: exampleFile,
  },
  command: 'file delete',
  async run(call) {
    const { platform, principal, tx, params } = call
    const app = await findLiveApp(tx.apps, principal, params.app_id)
    const file = await findFile(tx.files, app.id, params.file_id)
    await tx.files.remove(app.id, file.id)
    // A file that was not processed yet is not charged.
    const { id: operation_id, account_id } = file
    await platform.billing.release(tx, { account_id, operation_id })
    await noteFile(call, file, 'file.deleted')
    // Garbage collection finds out whether another file or tree of the app has the same bytes.
    tx.afterCommit(() => {
      platform.workAvailable.removed()
      platform.workAvailable.bytes(app.id)
    })
    return toWireFile(file)
  },
})
