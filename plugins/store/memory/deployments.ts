import type { Instant } from '../../../lib/time.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type {
  DeploymentReads,
  DeploymentRecord,
  DeploymentWrites,
  NewDeployment,
} from '../contract/deployments.ts'
import { offlineDeployment } from '../contract/deployments.ts'
import { MOST_LOOKED_AT } from '../contract/page.ts'
import { artifactsOf, isInProgress, releasesOf, siteReads } from './sites.ts'
import type { Reading, State } from './state.ts'
import { add, change, isLeased, searchPage } from './state.ts'

/** Of what is not under way. */
const NO_PLACE = { step: null, done: 0, total: null }

export function deploymentReads(state: Reading): DeploymentReads {
  const ofApp = (appId: string) => releasesOf(state(), appId)
  const live = (appId: string) => ofApp(appId).find(({ status }) => status === 'live')
  return {
    ...siteReads(state),
    get: async (appId, id) => ofApp(appId).find((one) => one.id === id),
    list: async ({ app_id, statuses, kind, ...page }, most = MOST_LOOKED_AT) =>
      searchPage(
        ofApp(app_id),
        page,
        (one) => statuses.includes(one.status) && (kind === null || one.kind === kind),
        most,
      ),
    live: async (appId) => live(appId),
    inProgress: async (appId) => ofApp(appId).find(isInProgress),
    lastFailed: async (appId) => ofApp(appId).find(({ status }) => status === 'failed'),
    async before(appId) {
      const { release = Infinity, artifact = null } = live(appId) ?? {}
      return ofApp(appId).find(
        (one) => one.status === 'superseded' && one.release < release && one.artifact !== artifact,
      )
    },
    async artifacts(appId, releases) {
      const past = ofApp(appId).filter((one) => one.live_at !== null && one.artifact !== null)
      const kept = [...ofApp(appId).filter(isInProgress), ...past.slice(0, releases)]
      return artifactsOf(kept.sort((a, b) => b.release - a.release))
    },
    lines: async (id, after, limit) =>
      (state().deploymentLines.get(id) ?? [])
        .filter(({ number }) => number > after)
        .slice(0, limit),
    isClaimable: async (now) => next(state(), now) !== undefined,
  }
}

/** Whether there is something to be done of it. */
function isOpen(one: DeploymentRecord | undefined): one is DeploymentRecord {
  return one !== undefined && !one.announced && (isInProgress(one) || one.status === 'live')
}

function next({ deployments, deploymentLeases }: State, now: Instant) {
  const all = [...deployments.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const load = ({ account_id }: DeploymentRecord): number =>
    all.filter(
      (one) =>
        one.account_id === account_id && (one.status === 'building' || one.status === 'deploying'),
    ).length
  const [first] = all
    .filter(isOpen)
    .filter(({ id, status }) => status === 'queued' || !isLeased(deploymentLeases, id, now))
    .sort((a, b) => load(a) - load(b))
  return first
}

export function deploymentWrites(state: State, changes: ChangeSink): DeploymentWrites {
  const { accounts, apps, deployments, deploymentLeases: leases, deploymentLines, sites } = state
  const { deploymentsPoised: poised, probes } = state
  const isHeld = (id: string, claim: string): boolean =>
    isOpen(deployments.get(id)) && leases.get(id)?.claim === claim
  const heldIn = (id: string, claim: string, status: DeploymentRecord['status']): boolean =>
    isHeld(id, claim) && deployments.get(id)?.status === status

  function insert(deployment: NewDeployment): DeploymentRecord {
    const [last] = releasesOf(state, deployment.app_id)
    const record = { ...deployment, release: (last?.release ?? 0) + 1 }
    add(deployments, record.id, record)
    return record
  }

  function letGo(id: string, changed: Partial<DeploymentRecord>): boolean {
    leases.delete(id)
    poised.delete(id)
    return change(deployments, id, { ...NO_PLACE, ...changed })
  }

  function turn(appId: string, deployment_id: string | null): void {
    change(sites, appId, { deployment_id, turn: (sites.get(appId)?.turn ?? 0) + 1 })
    if (deployment_id === null) probes.delete(appId)
    else probes.set(appId, probes.get(appId) ?? 0)
    changes.push({ kind: 'site', id: appId })
  }

  function supersede(appId: string, now: Instant): DeploymentRecord | undefined {
    const live = releasesOf(state, appId).find(({ status }) => status === 'live')
    if (live !== undefined) letGo(live.id, { status: 'superseded', ended_at: now })
    return live
  }

  return {
    ...deploymentReads(() => state),
    async openSite(site) {
      add(sites, site.app_id, { ...site, deployment_id: null, turn: 0 })
      changes.push({ kind: 'site', id: site.app_id })
    },
    insert: async (deployment) =>
      releasesOf(state, deployment.app_id).some(isInProgress) ? undefined : insert(deployment),
    async claim({ claim, now, lease_until, deadline_at }) {
      const found = next(state, now)
      if (found === undefined) return undefined
      leases.set(found.id, { claim, until: lease_until })
      poised.delete(found.id)
      change(deployments, found.id, {
        ...NO_PLACE,
        status: found.status === 'queued' ? 'building' : found.status,
        attempts: found.attempts + 1,
        started_at: found.started_at ?? now,
        deadline_at: found.deadline_at ?? deadline_at,
      })
      return deployments.get(found.id)
    },
    async beat(id, claim, { lease_until, step, done, total }) {
      if (!isHeld(id, claim)) return 'lost'
      leases.set(id, { claim, until: lease_until })
      change(deployments, id, { step, done, total })
      const { cancel_at = null, status } = deployments.get(id) ?? {}
      return cancel_at === null || status === 'live' ? 'held' : 'cancel'
    },
    async release(id, claim, now) {
      if (!isHeld(id, claim)) return false
      leases.set(id, { claim, until: now })
      const attempts = (deployments.get(id)?.attempts ?? 1) - 1
      return change(deployments, id, { ...NO_PLACE, attempts })
    },
    async built(id, claim, artifact) {
      if (!heldIn(id, claim, 'building')) return 'lost'
      if (deployments.get(id)?.cancel_at !== null) return 'cancel'
      change(deployments, id, { status: 'deploying', artifact })
      return 'held'
    },
    async poise(id, claim) {
      if (!heldIn(id, claim, 'deploying')) return false
      poised.set(id, true)
      changes.push({ kind: 'site', id: deployments.get(id)?.app_id ?? '' })
      return true
    },
    async switch(id, claim, now) {
      const { app_id: appId = '', account_id = '', cancel_at } = deployments.get(id) ?? {}
      const isReady = heldIn(id, claim, 'deploying') && poised.has(id) && cancel_at === null
      const isSuspended = (accounts.get(account_id)?.suspended_at ?? null) !== null
      if (!isReady || isSuspended || apps.get(appId)?.archived_at !== null) return undefined
      const previous_deployment_id = supersede(appId, now)?.id ?? null
      const live = { status: 'live', live_at: now, previous_deployment_id } as const
      change(deployments, id, { ...NO_PLACE, ...live })
      turn(appId, id)
      return deployments.get(id)
    },
    async announce(id) {
      const one = deployments.get(id)
      return one?.status === 'live' && !one.announced && letGo(id, { announced: true })
    },
    async fail(id, claim, end) {
      const one = deployments.get(id)
      return one !== undefined && isInProgress(one) && isHeld(id, claim) && letGo(id, end)
    },
    async cancel(id, end) {
      const one = deployments.get(id)
      if (one?.status === 'queued') {
        letGo(id, end)
        return 'canceled'
      }
      if (one?.status !== 'building') return 'late'
      change(deployments, id, { cancel_at: one.cancel_at ?? end.ended_at })
      return 'asked'
    },
    async unpublish(given) {
      const live = supersede(given.app_id, given.created_at)
      if (live === undefined) return undefined
      const made = insert({ ...offlineDeployment(given), previous_deployment_id: live.id })
      turn(given.app_id, null)
      return made
    },
    async log(id, lines) {
      if (!deployments.has(id)) return
      const kept = deploymentLines.get(id) ?? []
      const added = lines.map((line, index) => ({ number: kept.length + index + 1, ...line }))
      deploymentLines.set(id, [...kept, ...added])
    },
  }
}

/** Asks whoever carries out a deployment of an app to stop, however far that is. */
export function stopDeployments(state: State, appId: string, now: Instant): void {
  for (const { id, cancel_at } of releasesOf(state, appId).filter(isInProgress)) {
    change(state.deployments, id, { cancel_at: cancel_at ?? now })
  }
}

/** Deletes every deployment of an app, and its site. */
export function purgeDeployments(state: State, appId: string): void {
  for (const { id } of releasesOf(state, appId)) {
    state.deployments.delete(id)
    state.deploymentLeases.delete(id)
    state.deploymentsPoised.delete(id)
    state.deploymentLines.delete(id)
  }
  state.sites.delete(appId)
}
