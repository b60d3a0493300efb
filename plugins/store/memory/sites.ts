import type { DeploymentReads, DeploymentRecord } from '../contract/deployments.ts'
import { IN_PROGRESS } from '../contract/deployments.ts'
import type { EarlierRelease, HostedApp } from '../contract/sites.ts'
import { EARLIER } from '../contract/sites.ts'
import type { Reading, State } from './state.ts'
import { place } from './state.ts'

export function isInProgress({ status }: Pick<DeploymentRecord, 'status'>): boolean {
  return (IN_PROGRESS as readonly string[]).includes(status)
}

/** The deployments of an app, the latest release first. */
export function releasesOf({ deployments }: State, appId: string): DeploymentRecord[] {
  return [...deployments.values()]
    .filter(({ app_id }) => app_id === appId)
    .sort((a, b) => b.release - a.release)
}

/** Manifests of deployments, in their order and each once. */
export function artifactsOf(deployments: readonly DeploymentRecord[]): readonly string[] {
  return [...new Set(deployments.flatMap(({ artifact }) => (artifact === null ? [] : [artifact])))]
}

/** What was live before something, of what was ever live; the latest first. */
function earlierThan(
  artifact: string,
  past: readonly DeploymentRecord[],
): readonly EarlierRelease[] {
  const last = past.findIndex(({ retire_earlier }) => retire_earlier)
  const replaced = new Map<string, EarlierRelease>()
  for (const one of last === -1 ? past : past.slice(0, last + 1)) {
    const { artifact: own, ended_at: replaced_at } = one
    if (own === null || own === artifact || replaced_at === null || replaced.has(own)) continue
    replaced.set(own, { artifact: own, replaced_at })
  }
  return [...replaced.values()].slice(0, EARLIER)
}

export function siteReads(
  state: Reading,
): Pick<DeploymentReads, 'standings' | 'siteByAlias' | 'siteByPreview'> {
  const isSuspended = (accountId: string): boolean =>
    (state().accounts.get(accountId)?.suspended_at ?? null) !== null

  function hosted(appId: string | undefined): HostedApp | undefined {
    const { apps, sites, revisions, deployments, deploymentsPoised: poised } = state()
    const app = apps.get(appId ?? '')
    const site = sites.get(appId ?? '')
    if (app === undefined || site === undefined) return undefined
    const artifact = deployments.get(site.deployment_id ?? '')?.artifact ?? null
    const past = releasesOf(state(), app.id).filter(({ live_at }) => live_at !== null)
    return {
      app_id: app.id,
      account_id: site.account_id,
      archived: app.archived_at !== null,
      suspended: isSuspended(site.account_id),
      sign_in: state().signIn.get(app.id)?.enabled === true,
      deployment_id: site.deployment_id,
      artifact,
      earlier: artifact === null ? [] : earlierThan(artifact, past),
      tree: revisions.get(place(app.id, String(app.revision)))?.tree ?? null,
      turning: releasesOf(state(), app.id).some((one) => isInProgress(one) && poised.has(one.id)),
    }
  }

  return {
    standings: async (appIds) =>
      [...state().sites.values()]
        .filter(({ app_id }) => appIds.includes(app_id))
        .map((site) => ({
          ...site,
          in_progress: releasesOf(state(), site.app_id).some(isInProgress),
          suspended: isSuspended(site.account_id),
        })),
    async siteByAlias(alias) {
      const { apps } = state()
      const bearer = [...apps.values()].find(
        (app) => app.alias === alias && app.archived_at === null,
      )
      return hosted(apps.has(alias) ? alias : bearer?.id)
    },
    async siteByPreview(preview) {
      const sites = [...state().sites.values()]
      return hosted(sites.find((site) => site.preview === preview)?.app_id)
    },
  }
}
