import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { dryRun } from '../../../billing/dry-run.ts'
import { findLiveApp } from '../../apps/service.ts'
import { knowledgeError } from '../errors.ts'
import { exampleQueued, fileParams, fileRecord, pathOfFile, toWireFile } from '../schema.ts'
import { findFile, holdFor, noteFile } from '../service.ts'

const input = { params: fileParams, body: z.strictObject({}).optional() }

export const retryFile = operation({
  effect: 'write',
  id: 'files.retry',
  summary: 'Process a failed knowledge file again',
  method: 'POST',
  path: '/v1/apps/{app_id}/files/{file_id}/retry',
  access: { scope: 'files:write', pinned: 'allowed' },
  agent: { toolset: 'files' },
  emits: ['files'],
  input,
  output: fileRecord,
  status: 202,
  watch: pathOfFile,
  errors: [
    'app_not_found',
    'app_archived',
    'file_not_found',
    'file_not_failed',
    'insufficient_balance',
  ],
  example: {
    params: { app_id: exampleQueued.app_id, file_id: exampleQueued.id },
    response: exampleQueued,
  },
  quote: dryRun<typeof input>(async ({ platform, principal, params }) => {
    const { apps, files } = platform.store
    const { id: app_id } = await findLiveApp(apps, principal, params.app_id)
    const { status, size } = await findFile(files, app_id, params.file_id)
    if (status !== 'failed') throw knowledgeError('file_not_failed')
    return { operation: 'files.upload', app_id, quantities: [size] }
  }),
  command: 'file retry',
  async run(call) {
    const { platform, principal, tx, params } = call
    const app = await findLiveApp(tx.apps, principal, params.app_id)
    const { id } = await findFile(tx.files, app.id, params.file_id)
    if (!(await tx.files.retry(id))) throw knowledgeError('file_not_failed')
    tx.afterCommit(() => platform.workAvailable.jobs('file'))
    const file = await findFile(tx.files, app.id, id)
    await holdFor(call, file, [file])
    await noteFile(call, file, 'file.retried')
    return toWireFile(file)
  },
})
