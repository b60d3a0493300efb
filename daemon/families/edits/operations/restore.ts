import { z } from 'zod'
import type { Call } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { changesOf } from '../../../trees/apply.ts'
import { applyInTurn } from '../../../trees/applying-queue.ts'
import { bytesOf, keepMade, loadTree } from '../../../trees/keep.ts'
import { revisionNumber } from '../../apps/schema.ts'
import { findLiveApp, findRevision } from '../../apps/service.ts'
import { plainText } from '../../wire.ts'
import { editRecord, exampleEdit, message, toWireEdit } from '../schema.ts'
import type { MadeTree } from '../structured.ts'
import { completeAtOnce, requireMade } from '../structured.ts'

const input = {
  params: z.strictObject({ app_id: plainText }),
  body: z.strictObject({
    revision: revisionNumber.meta({ description: 'Revision whose files come back.' }),
    message: message.optional(),
  }),
}

export const restoreRevision = operation({
  effect: 'write',
  id: 'edits.restore_revision',
  summary: 'Restore the files and configuration of an earlier revision, as a new revision',
  method: 'POST',
  path: '/v1/apps/{app_id}/restore-revision',
  access: { scope: 'edits:write', pinned: 'allowed' },
  agent: { toolset: 'edits', destructive: true },
  emits: ['edits'],
  input,
  output: editRecord,
  status: 201,
  errors: [
    'app_not_found',
    'app_archived',
    'app_not_ready',
    'revision_not_found',
    'revision_conflict',
    'capability_unavailable',
  ],
  example: {
    params: { app_id: exampleEdit.app_id },
    body: { revision: 1, message: 'Back to how it was' },
    response: {
      ...exampleEdit,
      message: 'Back to how it was',
      base_revision: 2,
      result_revision: 3,
      changed_files: [{ path: 'headline.txt', change: 'removed' }],
    },
  },
  command: 'app restore-revision',
  async prepare(call) {
    // Refused before the wait; during it another edit may come first.
    await findRevisions(call)
    return applyInTurn(call, call.params.app_id, () => restoredTree(call))
  },
  async run(call) {
    const { params, body, prepared } = call
    const given = { message: body.message ?? `Revision ${body.revision} restored`, reverts: null }
    return toWireEdit(await completeAtOnce(call, params.app_id, prepared, given), null)
  },
})

/** The app, its current revision, and the one that comes back. */
async function findRevisions({ platform, principal, params, body }: Call<typeof input>) {
  const { apps } = platform.store
  const app = await findLiveApp(apps, principal, params.app_id)
  const base = requireMade(app)
  const current = await findRevision(apps, app, base)
  return { app, base, current, wanted: await findRevision(apps, app, body.revision) }
}

async function restoredTree(call: Call<typeof input>): Promise<MadeTree> {
  const { app, base, current, wanted } = await findRevisions(call)
  const bytes = bytesOf(call.platform)
  const tree = await loadTree(bytes, wanted)
  const kept = await keepMade(bytes, app.id, { tree, fresh: [] })
  return { base, kept, changed: changesOf(await loadTree(bytes, current), tree) }
}
