import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { Manifest } from '../../plugins/deploy/contract.ts'
import { DeployError, readManifest } from '../../plugins/deploy/contract.ts'
import type { DeploymentReads } from '../../plugins/platform/contract/deployments.ts'

/** Number of the last live releases whose files are kept. */
export const RELEASES_KEPT = 20

/** @throws DeployError `file_gone` when it is no longer stored */
export async function loadManifest(
  bytes: Pick<AppBytes, 'get'>,
  appId: string,
  digest: string,
): Promise<Manifest> {
  const kept = await bytes.get(appId, digest)
  if (kept === undefined) throw new DeployError('file_gone', { internal: `manifest ${digest}` })
  return readManifest(Buffer.from(kept).toString())
}

/** Digests of all files of a manifest, each once. */
export function digestsIn({ files }: Manifest): ReadonlySet<string> {
  const digests = new Set<string>()
  for (const { sha256, encoded } of files.values()) {
    digests.add(sha256)
    for (const form of Object.values(encoded)) digests.add(form.sha256)
  }
  return digests
}

/** Digests of the kept manifests of an app and of all their files. */
export async function namedByReleases(
  deployments: Pick<DeploymentReads, 'artifacts'>,
  bytes: Pick<AppBytes, 'get'>,
  appId: string,
): Promise<ReadonlySet<string>> {
  const named = new Set<string>()
  for (const artifact of await deployments.artifacts(appId, RELEASES_KEPT)) {
    named.add(artifact)
    const manifest = await loadManifest(bytes, appId, artifact)
    for (const digest of digestsIn(manifest)) named.add(digest)
  }
  return named
}
