import type { Hold, LeasedJob } from './jobs.ts'
import type { HostedApp, SiteRecord, SiteState } from './sites.ts'
import type { Creator } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'

export const DEPLOYMENT_STATUSES = [
  'queued',
  'building',
  'deploying',
  'live',
  'superseded',
  'unpublished',
  'canceled',
  'failed',
] as const

export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number]

/** Those of a deployment that is still to end or go live. No app has two. */
export const IN_PROGRESS = ['queued', 'building', 'deploying'] as const

export const DEPLOYMENT_KINDS = ['publish', 'rollback', 'unpublish'] as const

export type DeploymentKind = (typeof DEPLOYMENT_KINDS)[number]

/** Why an app was taken offline. */
export type OfflineReason = 'request' | 'archived' | 'suspended'

/** Why a deployment came to nothing, as its owner sees it. */
export interface DeploymentFailure {
  readonly code: string
  /** Who can do something about it. */
  readonly class: string
  readonly message: string
  /** What was being done. */
  readonly step: string | null
  readonly retryable: boolean
}

/** How far a deployment is; `step` null while it waits and once it ended. */
export interface DeploymentPlace {
  readonly step: string | null
  readonly done: number
  readonly total: number | null
}

export interface DeploymentRecord extends DeploymentPlace {
  /** Time-ordered. */
  readonly id: string
  readonly app_id: string
  readonly account_id: string
  /** 1, 2, … of its app, in the order in which they were asked for. */
  readonly release: number
  readonly kind: DeploymentKind
  readonly status: DeploymentStatus
  /** Of the app's files; null for what took the app offline. */
  readonly revision: number | null
  /** The edit that made the revision. */
  readonly edit_id: string | null
  /** The SHA-256, in hex, of the manifest that says what is served; null until it is made. */
  readonly artifact: string | null
  /** What was live before it; null until it is live itself, and where nothing was. */
  readonly previous_deployment_id: string | null
  /** Whose release a rollback goes back to. */
  readonly restored_from: string | null
  readonly message: string | null
  /** Of what took the app offline. */
  readonly reason: OfflineReason | null
  readonly error: DeploymentFailure | null
  readonly created_by: Creator
  readonly created_at: Instant
  readonly started_at: Instant | null
  /** When it became what is served; it stays when another took its place. */
  readonly live_at: Instant | null
  readonly ended_at: Instant | null
  /** Set while it is in progress, once it is to stop; null once it ended. */
  readonly cancel_at: Instant | null
  /** Whether its going live was told of. */
  readonly announced: boolean
  /** Once it was live, pages of what was live before it are served nothing of that any more. */
  readonly retire_earlier: boolean
}

/** What a deployment begins as: the store gives it its release. */
export type NewDeployment = Omit<DeploymentRecord, 'release'>

export interface DeploymentListQuery extends PageQuery {
  readonly app_id: string
  /** Only these. */
  readonly statuses: readonly DeploymentStatus[]
  readonly kind: DeploymentKind | null
}

export interface DeploymentReads {
  get(appId: string, id: string): Promise<DeploymentRecord | undefined>
  /** @param most deployments that a page looks at; default `MOST_LOOKED_AT` */
  list(query: DeploymentListQuery, most?: number): Promise<Page<DeploymentRecord>>
  /** What is live. */
  live(appId: string): Promise<DeploymentRecord | undefined>
  /** The one that is queued, building or deploying. */
  inProgress(appId: string): Promise<DeploymentRecord | undefined>
  /** The latest that failed. */
  lastFailed(appId: string): Promise<DeploymentRecord | undefined>
  /** What was live last before what is live now, and served something else. */
  before(appId: string): Promise<DeploymentRecord | undefined>
  /**
   * Manifests of the last releases of an app that were live, as many releases as said, the latest first
   * and each once; that of a deployment which is under way is among them.
   */
  artifacts(appId: string, releases: number): Promise<readonly string[]>
  /** What apps serve, in no order; an app without a site is left out. */
  siteStates(appIds: readonly string[]): Promise<readonly SiteState[]>
  /** The app with this id, or the one that bears the alias and is not archived. */
  siteByAlias(alias: string): Promise<HostedApp | undefined>
  siteByPreview(preview: string): Promise<HostedApp | undefined>
}

/** What a deployment ended in that never was live; it never changes again. */
export interface DeploymentEnd {
  readonly status: 'canceled' | 'failed'
  readonly ended_at: Instant
  readonly error: DeploymentFailure
}

/**
 * Whatever changes what a host serves is told of as a change of the app's `site` before `write`
 * resolves: what is poised, a switch, going offline, a site that is opened; and of apps their alias,
 * archiving, restoring, purging and a new current revision.
 */
export interface DeploymentWrites extends DeploymentReads {
  /** Gives an app a site, on which nothing is live. */
  openSite(site: Pick<SiteRecord, 'app_id' | 'account_id' | 'preview'>): Promise<void>
  /**
   * Adds a deployment as the app's next release. Undefined, changing nothing, while another is in
   * progress: of two callers one wins. One that is queued has a job from then on.
   */
  insert(deployment: NewDeployment): Promise<DeploymentRecord | undefined>
  /**
   * Notes that the deployment of a job is carried out from now on: a queued one is building; one that is in
   * progress, or live and not announced, stays what it is. Undefined when there is no such deployment.
   */
  begin(job: LeasedJob, now: Instant): Promise<DeploymentRecord | undefined>
  /**
   * What is to be served is made and kept: a building one is deploying. Only `held` changes anything; one
   * that was asked to stop is not taken further.
   */
  built(id: string, claim: string, artifact: string): Promise<Hold>
  /**
   * Makes a deploying one ready to be switched to: from when `write` resolves until it is live or ended,
   * whoever is asked what its site serves looks, so that a switch holds for all of them at once. False,
   * changing nothing, when it is not this claim's any more.
   */
  prepareSwitch(id: string, claim: string): Promise<boolean>
  /**
   * Makes a poised one what its site serves, in the place of what was live, which is superseded.
   * Answers it as it is then; undefined, changing nothing, when the claim is lost, it was asked to stop,
   * the app is archived or its account suspended.
   */
  switch(id: string, claim: string, now: Instant): Promise<DeploymentRecord | undefined>
  /**
   * Notes that a live one's going live is told of, and ends its job. Of any number of callers one gets
   * true.
   */
  announce(id: string): Promise<boolean>
  /** Ends a claimed one that is not live, and its job. False, changing nothing, when the claim is lost. */
  fail(id: string, claim: string, end: DeploymentEnd): Promise<boolean>
  /**
   * Ends a queued one; asks a building one to stop, also when it was asked before. `late`, changing
   * nothing, from the moment that it is deploying.
   */
  cancel(id: string, end: DeploymentEnd): Promise<'canceled' | 'asked' | 'late'>
  /**
   * Takes what is live off its site: it is superseded, and the given deployment is added, ended, as what
   * did so. Undefined, changing nothing, when nothing is live: of two callers one wins.
   */
  unpublish(
    deployment: Pick<
      DeploymentRecord,
      'id' | 'app_id' | 'account_id' | 'message' | 'reason' | 'created_by' | 'created_at'
    >,
  ): Promise<DeploymentRecord | undefined>
}

/** The deployment that took an app offline, all but its release and what was live. */
export function offlineDeployment(
  given: Parameters<DeploymentWrites['unpublish']>[0],
): NewDeployment {
  const at = given.created_at
  return {
    ...given,
    kind: 'unpublish',
    status: 'unpublished',
    revision: null,
    edit_id: null,
    artifact: null,
    previous_deployment_id: null,
    restored_from: null,
    error: null,
    step: null,
    done: 0,
    total: null,
    started_at: at,
    live_at: null,
    ended_at: at,
    cancel_at: null,
    announced: true,
    retire_earlier: false,
  }
}
