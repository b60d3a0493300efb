import { operation } from '../../../operations/operation.ts'
import { findApp } from '../../apps/service.ts'
import { exampleFile, fileParams, fileRecord, toWireFile } from '../schema.ts'
import { findFile } from '../service.ts'

export const getFile = operation({
  effect: 'read',
  id: 'files.get',
  summary: 'Read a knowledge file and the progress of its processing',
  method: 'GET',
  path: '/v1/apps/{app_id}/files/{file_id}',
  access: { scope: 'files:read', pinned: 'allowed' },
  emits: ['files'],
  input: { params: fileParams },
  output: fileRecord,
  errors: ['app_not_found', 'file_not_found'],
  example: {
    params: { app_id: exampleFile.app_id, file_id: exampleFile.id },
    response: exampleFile,
  },
  command: 'file get',
  async run({ platform, principal, params }) {
    const { apps, files } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    return toWireFile(await findFile(files, app.id, params.file_id))
  },
})
