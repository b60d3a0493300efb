import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { wholeNumber } from '../../../operations/query-values.ts'
import { appParams } from '../../apps/schema.ts'
import { findApp, findRevision } from '../../apps/service.ts'
import { comparePath, comparison, compareRevisions } from '../compare.ts'
import { exampleEdit } from '../schema.ts'

const given = wholeNumber(/^[1-9][0-9]{0,8}$/, 'Must be the number of a revision.', {
  minimum: 1,
  maximum: 999_999_999,
})

const input = {
  params: appParams,
  query: z.strictObject({
    from: given.meta({ description: 'Revision to compare with.', example: 1 }),
    to: given.optional().meta({ description: 'Default: the current revision.' }),
    path: comparePath,
  }),
}

export const compareApp = operation({
  effect: 'read',
  id: 'edits.compare',
  summary: 'Compare two revisions of an app, as a unified diff',
  method: 'GET',
  path: '/v1/apps/{app_id}/diff',
  access: { scope: 'apps:read', pinned: 'allowed' },
  agent: {
    toolset: 'edits',
    resource: ({ diff }) =>
      typeof diff === 'string' ? { mimeType: 'text/x-diff', text: diff } : undefined,
  },
  emits: ['apps', { family: 'edits', because: 'What differs was made by edits.' }],
  input,
  output: z
    .strictObject({
      app_id: z.string(),
      from_revision: z.int(),
      to_revision: z.int(),
      ...comparison,
    })
    .meta({ id: 'Comparison' }),
  errors: [
    'app_not_found',
    'app_not_ready',
    'revision_not_found',
    'path_not_found',
    'capability_unavailable',
  ],
  example: {
    params: { app_id: exampleEdit.app_id },
    query: { from: '1' },
    response: {
      app_id: exampleEdit.app_id,
      from_revision: 1,
      to_revision: 2,
      files: [{ path: 'headline.txt', change: 'added', added: 1, removed: 0, omitted: null }],
      config: [],
      diff: '--- /dev/null\n+++ b/headline.txt\n@@ -0,0 +1,1 @@\n+Open every day\n\\ No newline at end of file\n',
    },
  },
  command: 'app diff',
  async run(call) {
    const { platform, principal, params, query } = call
    const { apps } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const { number: base } = await findRevision(apps, app, query.from)
    const { number: result } = await findRevision(apps, app, query.to)
    return {
      app_id: app.id,
      from_revision: base,
      to_revision: result,
      ...(await compareRevisions(call, app, { base, result, path: query.path })),
    }
  },
})
