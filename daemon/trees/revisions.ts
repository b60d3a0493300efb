import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { RevisionRecord } from '../../plugins/platform/contract/apps.ts'
import { loadTree } from './keep.ts'

/** Revisions per query. */
const AT_ONCE = 100

/** Digests of the trees of all revisions of an app, and of their files; undefined for too many trees. */
export async function namedByTrees(
  apps: Pick<PlatformStore['apps'], 'revisions'>,
  bytes: AppBytes,
  id: string,
  most: number,
): Promise<ReadonlySet<string> | undefined> {
  const named = new Set<string>()
  const trees = new Set<string>()
  for await (const revision of revisionsOf(apps, id)) {
    if (trees.has(revision.tree)) continue
    if (trees.size >= most) return undefined
    trees.add(revision.tree)
    named.add(revision.tree)
    const { files } = await loadTree(bytes, revision)
    for (const { sha256 } of files.values()) named.add(sha256)
  }
  return named
}

async function* revisionsOf(
  apps: Pick<PlatformStore['apps'], 'revisions'>,
  app_id: string,
): AsyncGenerator<RevisionRecord> {
  for (let before: number | null = null; ;) {
    const { rows, more } = await apps.revisions({ app_id, limit: AT_ONCE, before })
    yield* rows
    before = rows.at(-1)?.number ?? null
    if (!more) return
  }
}
