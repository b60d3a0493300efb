import { z } from 'zod'
import type { AppRecord } from '../../../plugins/platform/contract/apps.ts'
import type { Call } from '../../operations/call.ts'
import { bytesOf, loadCountedTree, readKept } from '../../trees/keep.ts'
import type { Tree } from '../../trees/tree.ts'
import { appError } from '../apps/errors.ts'
import { findRevision } from '../apps/service.ts'
import { OMISSIONS, diffConfig, diffTrees } from './diff.ts'

const lines = z.int().nullable()

export const comparePath = z.string().min(1).max(300).optional().meta({
  description: 'Only this file, whatever the size of the whole diff.',
  example: 'headline.txt',
})

/** Fields of a response that compares two revisions. */
export const comparison = {
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
} as const

const EMPTY: Tree = { files: new Map(), config: new Map() }

/**
 * Compares two revisions of an app.
 *
 * @param compared.base null compares with an empty app
 * @throws KeyhookError `path_not_found` when the given file does not differ
 */
export async function compareRevisions(
  call: Pick<Call, 'platform' | 'reserve' | 'abandoned'>,
  app: AppRecord,
  compared: {
    readonly base: number | null
    readonly result: number
    readonly path: string | undefined
  },
) {
  const { platform, reserve, abandoned } = call
  const { base, result, path } = compared
  const signal = abandoned()
  const read = readKept(bytesOf(platform), app.id)
  return platform.queues.largePages({ holder: app.account_id, signal }, async () => {
    const to = await treeAt(call, app, result)
    const from = base === null ? EMPTY : await treeAt(call, app, base)
    const { files, text } = await diffTrees(from, to, path, { read, reserve, signal })
    if (path !== undefined && files.length === 0) throw appError('path_not_found')
    return {
      files: files.map((file) => ({ ...file })),
      config: diffConfig(from, to).map((one) => ({ ...one })),
      diff: text,
    }
  })
}

async function treeAt(
  { platform, reserve }: Pick<Call, 'platform' | 'reserve'>,
  app: AppRecord,
  number: number,
): Promise<Tree> {
  const revision = await findRevision(platform.store.apps, app, number)
  return loadCountedTree(bytesOf(platform), revision, reserve)
}
