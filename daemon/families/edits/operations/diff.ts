import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { findApp } from '../../apps/service.ts'
import { comparePath, comparison, compareRevisions } from '../compare.ts'
import { editError } from '../errors.ts'
import { editParams, exampleEdit } from '../schema.ts'
import { findEdit } from '../service.ts'

const input = {
  params: editParams,
  query: z.strictObject({ path: comparePath }),
}

export const diffEdit = operation({
  effect: 'read',
  id: 'edits.diff',
  summary: 'Show what a completed edit changed, as a unified diff',
  method: 'GET',
  path: '/v1/apps/{app_id}/edits/{edit_id}/diff',
  // A diff is content of files.
  access: { scope: 'apps:read', pinned: 'allowed' },
  agent: {
    toolset: 'edits',
    resource: ({ diff }) =>
      typeof diff === 'string' ? { mimeType: 'text/x-diff', text: diff } : undefined,
  },
  emits: ['apps', { family: 'edits', because: 'It names the revisions of the edit.' }],
  input,
  output: z
    .strictObject({
      app_id: z.string(),
      edit_id: z.string(),
      base_revision: z
        .int()
        .nullable()
        .meta({ description: 'Null for the edit that made the app.' }),
      result_revision: z.int(),
      ...comparison,
    })
    .meta({ id: 'Diff' }),
  errors: [
    'app_not_found',
    'edit_not_found',
    'edit_not_completed',
    'path_not_found',
    'capability_unavailable',
  ],
  example: {
    params: { app_id: exampleEdit.app_id, edit_id: exampleEdit.id },
    response: {
      app_id: exampleEdit.app_id,
      edit_id: exampleEdit.id,
      base_revision: 1,
      result_revision: 2,
      files: [{ path: 'headline.txt', change: 'added', added: 1, removed: 0, omitted: null }],
      config: [],
      diff: '--- /dev/null\n+++ b/headline.txt\n@@ -0,0 +1,1 @@\n+Open every day\n\\ No newline at end of file\n',
    },
  },
  command: 'edit diff',
  async run(call) {
    const { platform, principal, params, query } = call
    const app = await findApp(platform.store.apps, principal, params.app_id)
    const { id, result_revision: result } = await findEdit(platform.store, call)
    if (result === null) throw editError('edit_not_completed')
    const base = result > 1 ? result - 1 : null
    return {
      app_id: app.id,
      edit_id: id,
      base_revision: base,
      result_revision: result,
      ...(await compareRevisions(call, app, { base, result, path: query.path })),
    }
  },
})
