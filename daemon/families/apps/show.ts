import type { z } from 'zod'
import type { AppRecord } from '../../../plugins/platform/contract/apps.ts'
import type { DeploymentReads } from '../../../plugins/platform/contract/deployments.ts'
import type { SiteState } from '../../../plugins/platform/contract/sites.ts'
import { previewUrl, productionUrl } from '../../hosting/address.ts'
import type { Platform } from '../../platform.ts'
import type { AppOnline, appRecord } from './schema.ts'
import { toWireApp } from './schema.ts'

type Wire = z.input<typeof appRecord>

/** Adds publication state and addresses to apps. */
export async function showApps(
  { appsHosting }: Pick<Platform, 'appsHosting'>,
  deployments: Pick<DeploymentReads, 'siteStates'>,
  apps: readonly AppRecord[],
): Promise<(app: AppRecord) => Wire> {
  const sites = await deployments.siteStates(apps.map(({ id }) => id))
  const byId = new Map(sites.map((one) => [one.app_id, one]))
  return (app) => {
    const site = byId.get(app.id)
    return toWireApp(app, {
      publish_state: site === undefined ? 'never' : stateOf(site),
      current_deployment_id: site?.deployment_id ?? null,
      preview_url: site === undefined ? null : previewUrl(appsHosting, site.preview),
      production_url: productionUrl(appsHosting, app),
    })
  }
}

function stateOf(site: SiteState): AppOnline['publish_state'] {
  const { deployment_id, generation, in_progress, suspended } = site
  if (deployment_id !== null) return suspended ? 'suspended' : 'published'
  if (in_progress) return 'publishing'
  return generation === 0 ? 'never' : 'unpublished'
}

export async function showApp(
  platform: Pick<Platform, 'appsHosting'>,
  deployments: Pick<DeploymentReads, 'siteStates'>,
  app: AppRecord,
): Promise<Wire> {
  return (await showApps(platform, deployments, [app]))(app)
}
