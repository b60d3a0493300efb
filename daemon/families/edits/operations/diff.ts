import { z } from 'zod'
import type { AppRecord } from '../../../../plugins/platform/contract/apps.ts'
import type { Call } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { bytesOf, loadCountedTree, readKept } from '../../../trees/keep.ts'
import type { Tree } from '../../../trees/tree.ts'
import { appError } from '../../apps/errors.ts'
import { findApp, findRevision } from '../../apps/service.ts'
import { OMISSIONS, diffConfig, diffTrees } from '../diff.ts'
import { editError } from '../errors.ts'
import { editParams, exampleEdit } from '../schema.ts'
import { findEdit } from '../service.ts'

const lines = z.int().nullable()

const input = {
  params: editParams,
  query: z.strictObject({
    path: z.string().min(1).max(300).optional().meta({
      description: 'Only this file, whatever the size of the whole diff.',
      example: 'headline.txt',
    }),
  }),
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
      files: z.array(
        z.strictObject({
          path: z.string(),
          change: z.enum(['added', 'changed', 'removed']),
          added: lines.meta({ description: 'Added lines; null without a diff.' }),
          removed: lines.meta({ description: 'Removed lines; null without a diff.' }),
          omitted: z.enum(OMISSIONS).nullable().meta({
            description:
              'Why there is no diff of it: no text, larger than 256 KiB, or after 256 KiB of other diffs, when path shows it.',
          }),
        }),
      ),
      config: z.array(
        z.strictObject({
          key: z.string(),
          before: z.string().nullable(),
          after: z.string().nullable(),
        }),
      ),
      diff: z.string().meta({ description: 'Unified diff of the files, ordered by path.' }),
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
    const { platform, principal, params, query, reserve, abandoned } = call
    const app = await findApp(platform.store.apps, principal, params.app_id)
    const { id, result_revision: result } = await findEdit(platform.store, call)
    if (result === null) throw editError('edit_not_completed')
    const base = result > 1 ? result - 1 : null
    const signal = abandoned()
    const read = readKept(bytesOf(platform), app.id)
    return platform.queues.largePages({ holder: app.account_id, signal }, async () => {
      const to = await treeAt(call, app, result)
      const from = base === null ? EMPTY : await treeAt(call, app, base)
      const { files, text } = await diffTrees(from, to, query.path, { read, reserve, signal })
      if (query.path !== undefined && files.length === 0) throw appError('path_not_found')
      return {
        app_id: app.id,
        edit_id: id,
        base_revision: base,
        result_revision: result,
        files: files.map((file) => ({ ...file })),
        config: diffConfig(from, to).map((one) => ({ ...one })),
        diff: text,
      }
    })
  },
})

const EMPTY: Tree = { files: new Map(), config: new Map() }

async function treeAt(
  { platform, reserve }: Pick<Call, 'platform' | 'reserve'>,
  app: AppRecord,
  number: number,
): Promise<Tree> {
  const revision = await findRevision(platform.store.apps, app, number)
  return loadCountedTree(bytesOf(platform), revision, reserve)
}
