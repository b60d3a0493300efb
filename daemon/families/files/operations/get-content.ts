import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { bytesOf } from '../../../trees/keep.ts'
import { findApp } from '../../apps/service.ts'
import { exampleFile, fileParams } from '../schema.ts'
import { findFile } from '../service.ts'

export const getFileContent = operation({
  effect: 'bytes',
  id: 'files.content',
  summary: 'Download a knowledge file as it was uploaded, or one Range of it',
  method: 'GET',
  path: '/v1/apps/{app_id}/files/{file_id}/content',
  access: { scope: 'files:read', pinned: 'allowed' },
  agent: { omit: 'A download of up to 25 MiB; files_search reads its text.' },
  emits: ['files'],
  input: { params: fileParams },
  output: z.instanceof(Blob),
  errors: ['app_not_found', 'file_not_found', 'capability_unavailable'],
  example: {
    params: { app_id: exampleFile.app_id, file_id: exampleFile.id },
    response: new Blob(['%PDF-1.7']),
  },
  async run({ platform, principal, params }) {
    const { apps, files } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const { name, size, sha256, id } = await findFile(files, app.id, params.file_id)
    const appBytes = bytesOf(platform)
    return {
      name,
      size,
      sha256,
      async open(range) {
        const bytes = await appBytes.open(app.id, sha256, range)
        if (bytes === undefined) throw new Error(`the stored bytes of file ${id} are missing`)
        return bytes
      },
    }
  },
})
