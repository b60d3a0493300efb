import type { Instant, Millis } from '../../lib/time.ts'
import { DAY } from '../../lib/time.ts'
import type { AppBytes } from '../../plugins/apps/contract.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { HostedApp } from '../../plugins/platform/contract/sites.ts'
import { previewIn } from './address.ts'
import type { AppsHosting } from '../platform.ts'
import type { WantedSite } from './kept-sites.ts'
import { createKeptSites } from './kept-sites.ts'
import { readLive, readPreview } from './read-site.ts'
import type { Offline, Site, SiteKind } from './site.ts'

/** Result of a host's lookup. */
export interface LoadedSite {
  readonly app_id: string
  readonly account_id: string
  /** The site from memory, or read: its content never changes. */
  serves(): Site | Offline | Promise<Site>
  /** When the lookup expires, because an earlier release is no longer served then. */
  readonly until: Instant
  /** Another release may go live at any moment: each request looks up again. */
  readonly isSwitching: boolean
}

export type LoadSite = (host: string, now: Instant) => Promise<LoadedSite | undefined>

interface Ports {
  readonly store: Pick<PlatformStore, 'deployments' | 'domains'>
  readonly bytes: Pick<AppBytes, 'get'>
  readonly hosting: Pick<AppsHosting, 'domain'>
}

/** How long files of a replaced release are served to open tabs: few are open longer. */
const TABS_SERVED: Millis = DAY

/**
 * Looks up hosts: names below the apps' domain are aliases, ids or previews; any other host is a custom
 * domain with a verified owner.
 */
export function createSiteLoader(ports: Ports): LoadSite {
  const findSite = createKeptSites()
  return async (host, now) => {
    const found = await findApp(ports, host)
    if (found === undefined) return undefined
    const { app, kind } = found
    const { app_id, account_id } = app
    const known = { app_id, account_id, isSwitching: kind === 'published' && app.switching }
    const offline = offlineOf(app, kind)
    if (offline !== undefined) return { ...known, until: Infinity, serves: () => offline }
    if (kind === 'preview') {
      const preview = previewOf(ports, app)
      return { ...known, until: Infinity, serves: () => findSite(preview) }
    }
    const ends = app.earlier.map(({ replaced_at }) => replaced_at + TABS_SERVED)
    const live = liveOf(ports, app, now)
    return {
      ...known,
      until: Math.min(...ends.filter((end) => end > now)),
      serves: () => findSite(live),
    }
  }
}

async function findApp(
  { store: { deployments, domains }, hosting: { domain } }: Ports,
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
  if ((kind === 'preview' ? app.tree : app.artifact) === null) return 'unpublished'
  // Nothing signs visitors in yet: an app that requires sign-in must not be open to everyone
  // instead. A preview stays visible, because only its owner knows its name.
  return kind === 'published' && app.sign_in ? 'sign_in' : undefined
}

function previewOf({ bytes }: Ports, { app_id, tree }: HostedApp): WantedSite {
  const version = tree ?? ''
  return { of: `preview ${app_id}`, version, read: () => readPreview(bytes, app_id, version) }
}

function liveOf({ bytes }: Ports, app: HostedApp, now: Instant): WantedSite {
  const { app_id, deployment_id, artifact } = app
  const earlier = app.earlier
    .filter(({ replaced_at }) => replaced_at + TABS_SERVED > now)
    .map((one) => one.artifact)
  const release = { app_id, deployment_id, artifact: artifact ?? '', earlier }
  return {
    of: `published ${app_id}`,
    version: [deployment_id, artifact, ...earlier].join(' '),
    read: () => readLive(bytes, release),
  }
}
