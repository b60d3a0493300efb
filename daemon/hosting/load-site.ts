import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { Manifest } from '../../plugins/deploy/contract.ts'
import { plainManifest } from '../../plugins/deploy/contract.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type { HostedApp } from '../../plugins/store/contract/deployments.ts'
import { previewIn } from '../app-address.ts'
import { readTree } from '../families/apps/tree.ts'
import type { AppsPlace } from '../platform.ts'
import type { ReadKeptManifest } from './kept-manifests.ts'
import { createKeptManifests, readKept } from './kept-manifests.ts'
import type { Offline, Site, SiteKind } from './site.ts'

/** What a host serves, as it was read. */
export interface LoadedSite {
  readonly app_id: string
  readonly account_id: string
  readonly serves: Site | Offline
  /** Of its manifests, as they are printed. */
  readonly bytes: number
  /** Another release may be live at any moment: each request looks for itself. */
  readonly isTurning: boolean
}

interface Ports {
  readonly store: Pick<Store, 'deployments' | 'domains'>
  readonly bytes: Pick<AppBytes, 'get'>
  readonly place: Pick<AppsPlace, 'domain'>
}

/**
 * Reads what hosts serve: names below the apps' domain are aliases, ids or previews, and any other host
 * is somebody's own once its owner has proved that.
 *
 * It throws when what is live cannot be read; earlier releases that cannot be are passed over.
 */
export function createSiteLoader(ports: Ports): (host: string) => Promise<LoadedSite | undefined> {
  const readManifest = createKeptManifests(ports.bytes)
  return async (host) => {
    const found = await findApp(ports, host)
    if (found === undefined) return undefined
    const { app, kind } = found
    const { app_id, account_id } = app
    const known = { app_id, account_id, isTurning: kind === 'published' && app.turning }
    const offline = offlineOf(app, kind)
    if (offline !== undefined) return { ...known, serves: offline, bytes: 0 }
    const serves =
      kind === 'preview' ? await loadPreview(ports, app) : await loadLive(readManifest, app)
    return { ...known, ...serves }
  }
}

async function findApp(
  { store: { deployments, domains }, place: { domain } }: Ports,
  host: string,
): Promise<{ readonly app: HostedApp; readonly kind: SiteKind } | undefined> {
  if (host === domain) return undefined
  if (!host.endsWith(`.${domain}`)) {
    const own = await domains.domainByHostname(host)
    const app = own && (await deployments.siteByAlias(own.app_id))
    return app && { app, kind: 'published' }
  }
  const name = host.slice(0, -domain.length - 1)
  if (name.includes('.')) return undefined
  const preview = previewIn(name)
  const app = await (preview === undefined
    ? deployments.siteByAlias(name)
    : deployments.siteByPreview(preview))
  return app && { app, kind: preview === undefined ? 'published' : 'preview' }
}

function offlineOf(app: HostedApp, kind: SiteKind): Offline | undefined {
  if (app.archived) return 'archived'
  if (app.suspended) return 'suspended'
  return (kind === 'preview' ? app.tree : app.artifact) === null ? 'unpublished' : undefined
}

type Loaded = Pick<LoadedSite, 'serves' | 'bytes'>

async function loadLive(readManifest: ReadKeptManifest, app: HostedApp): Promise<Loaded> {
  const { app_id, deployment_id, artifact, earlier } = app
  const [live, ...past] = await Promise.all([
    readManifest(app_id, artifact ?? ''),
    // Open pages may miss a file by it; whoever comes anew misses nothing.
    ...earlier.map((digest) => readManifest(app_id, digest).catch(() => undefined)),
  ])
  const known = past.filter((one) => one !== undefined)
  const serves: Site = {
    app_id,
    kind: 'published',
    deployment_id,
    manifest: live.manifest,
    earlier: known.map(({ manifest }) => manifest),
  }
  return { serves, bytes: [live, ...known].reduce((sum, { bytes }) => sum + bytes, 0) }
}

/** An app's files as they are at present: names stay the same while their content changes. */
async function loadPreview({ bytes }: Ports, { app_id, tree }: HostedApp): Promise<Loaded> {
  const text = await readKept(bytes, app_id, tree ?? '')
  const { files, config } = readTree(text)
  const plain = plainManifest(files.values(), config)
  const changing = [...plain.files].map(
    ([path, file]) => [path, { ...file, immutable: false }] as const,
  )
  const manifest: Manifest = { ...plain, files: new Map(changing) }
  const serves: Site = { app_id, kind: 'preview', deployment_id: null, manifest, earlier: [] }
  return { serves, bytes: text.length }
}
