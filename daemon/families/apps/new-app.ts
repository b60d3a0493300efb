import type { AppBytes } from '../../../plugins/apps/contract.ts'
import type { AppRecord, RevisionRecord } from '../../../plugins/platform/contract/apps.ts'
import type { Platform } from '../../platform.ts'
import { accountOf, creatorOf } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { createAppId, createPreview } from './id.ts'
import { bytesOf, keepEach, keepTree, loadTree } from '../../trees/keep.ts'
import { noteChange, requireFreeAlias, requireAppQuota } from './service.ts'
import type { Tree, TreeFile } from '../../trees/tree.ts'
import { sizeOf } from '../../trees/tree.ts'
import { appEvents } from './events.ts'

/** Stored files of a new app, not referenced by a row yet. */
export interface KeptApp {
  readonly id: string
  readonly tree: string
  readonly files: number
  readonly bytes: number
}

export async function keepFiles(
  platform: AppStorage,
  files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
): Promise<KeptApp> {
  return keepNew(platform, async (id, bytes) => {
    const kept = new Map<string, TreeFile>()
    await keepEach(files, async ({ path, bytes: content }) => {
      kept.set(path, { path, ...(await bytes.put(id, content)) })
    })
    return { files: kept, config: new Map() }
  })
}

/**
 * Copies the files under a new app: apps share no bytes, so that each can be deleted as a whole. Content at
 * several paths is copied once. Ends when `signal` aborts.
 */
export async function copyTree(
  { platform, charge }: { readonly platform: AppStorage; charge(bytes: number): void },
  revision: RevisionRecord,
  signal: AbortSignal,
): Promise<KeptApp> {
  return keepNew(platform, async (id, bytes) => {
    const tree = await loadTree(bytes, revision)
    const contents = new Map([...tree.files.values()].map((file) => [file.sha256, file]))
    charge(sizeOf(contents))
    await keepEach(contents.values(), async ({ path, sha256 }) => {
      signal.throwIfAborted()
      const content = await bytes.open(revision.app_id, sha256)
      if (content === undefined) throw new Error(`${path} of revision ${revision.number} is gone`)
      await bytes.put(id, content, { signal })
    })
    return tree
  })
}

type AppStorage = Pick<Platform, 'plugins' | 'random' | 'workAvailable'>

/** Stores the files of an app without a row; when that fails, they are deleted. */
async function keepNew(
  platform: AppStorage,
  keep: (id: string, bytes: AppBytes) => Promise<Tree>,
): Promise<KeptApp> {
  const bytes = bytesOf(platform)
  const id = createAppId(platform.random)
  try {
    return await keepAs(bytes, id, await keep(id, bytes))
  } catch (cause) {
    await dropKept(platform, { id })
    throw cause
  }
}

/** Deletes the files of an app without a row; a failed deletion is left to garbage collection. */
export async function dropKept(
  platform: Pick<Platform, 'plugins' | 'workAvailable'>,
  { id }: Pick<KeptApp, 'id'>,
): Promise<void> {
  await bytesOf(platform)
    .drop(id)
    .catch(() => {
      platform.workAvailable.bytes(id)
    })
}

async function keepAs(bytes: AppBytes, id: string, tree: Tree): Promise<KeptApp> {
  const digest = await keepTree(bytes, id, tree)
  return { id, tree: digest, files: tree.files.size, bytes: sizeOf(tree.files) }
}

/**
 * Inserts the app whose first revision is stored, and publishes the event.
 *
 * @param editId of the edit that will make it, when it is not ready yet
 */
export async function insertApp(
  call: Change,
  kept: KeptApp,
  given: Pick<AppRecord, 'name' | 'alias' | 'metadata' | 'source'>,
  editId: string | null = null,
): Promise<AppRecord> {
  const { platform, principal, tx, now } = call
  const account_id = accountOf(principal)
  await requireAppQuota(tx.apps, account_id)
  const request = { account_id, app_id: kept.id, now }
  if (given.alias !== null) await requireFreeAlias(platform, tx.apps, given.alias, request)

  const created_by = creatorOf(principal)
  const status = editId === null ? 'ready' : 'creating'
  const app: AppRecord = {
    ...given,
    id: kept.id,
    account_id,
    status,
    revision: null,
    created_by,
    created_at: now,
    updated_at: now,
    archived_at: null,
    purge_at: null,
  }
  await tx.apps.insert(app)
  const preview = createPreview(platform.random)
  await tx.deployments.openSite({ app_id: app.id, account_id, preview })
  const { id: app_id, ...tree } = kept
  const revision = { app_id, number: 1, ...tree, message: null, edit_id: null, created_by }
  await tx.apps.advance({ ...revision, created_at: now }, null)
  const { engine } = platform
  const { alias, source } = app
  // Identifiers only: a webhook may receive it without `apps:read`.
  const data = { app_id, alias, status, source_kind: source.kind, edit_id: editId } as const
  const event = appEvents.newEvent(engine, account_id, 'app.created', data, now, app.id)
  await engine.publishIn(tx, [event])
  await noteChange(call, app.id, 'app.created')
  return { ...app, revision: 1 }
}
