import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { namedByReleases } from '../trees/releases.ts'
import { namedByTrees } from '../trees/revisions.ts'
import { damaged } from './manifest.ts'

type Reads = Pick<PlatformStore, 'apps' | 'deployments' | 'files'>

/**
 * Looks for every blob that a revision, a kept release or a knowledge file of an app names.
 *
 * @throws ConfigError naming one that is missing
 */
export async function requireNamedBlobs(
  store: Reads,
  bytes: AppBytes,
  appId: string,
  backup: string,
): Promise<void> {
  const kept = new Set<string>()
  for await (const { sha256 } of bytes.list(appId)) kept.add(sha256)
  const named = await namedBlobs(store, bytes, appId).catch((cause: unknown) => {
    throw damaged(backup, `app ${appId}: ${cause instanceof Error ? cause.message : String(cause)}`)
  })
  const missing = named.find((sha256) => !kept.has(sha256))
  if (missing !== undefined) throw damaged(backup, `app ${appId} lacks the blob ${missing}`)
}

/**
 * Reads every blob that a manifest lists, and returns their bytes; each is compared with its digest as it is read.
 *
 * @throws ConfigError naming one that is missing
 */
export async function requireListed(
  bytes: AppBytes,
  apps: Readonly<Record<string, readonly string[]>>,
  backup: string,
): Promise<{ readonly read: number }> {
  let read = 0
  for (const [app, digests] of Object.entries(apps)) {
    for (const sha256 of digests) {
      const chunks = await bytes.open(app, sha256)
      if (chunks === undefined) throw damaged(backup, `app ${app} lacks the blob ${sha256}`)
      for await (const chunk of chunks) read += chunk.length
    }
  }
  return { read }
}

async function namedBlobs(
  { apps, deployments, files }: Reads,
  bytes: AppBytes,
  appId: string,
): Promise<readonly string[]> {
  const trees = (await namedByTrees(apps, bytes, appId, Infinity)) ?? []
  const releases = await namedByReleases(deployments, bytes, appId)
  const uploads: string[] = []
  for (let after: string | null = null, more = true; more;) {
    const page: Awaited<ReturnType<typeof files.list>> = await files.list({
      app_id: appId,
      status: null,
      content_type: null,
      limit: 100,
      after,
    })
    uploads.push(...page.rows.map(({ sha256 }) => sha256))
    after = page.next ?? page.rows.at(-1)?.id ?? null
    more = page.more
  }
  return [...trees, ...releases, ...uploads]
}
