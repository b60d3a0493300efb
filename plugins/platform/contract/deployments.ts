import type { HostedApp, SiteRecord, SiteState } from './sites.ts'
import type { Hold, LeasedJob } from './jobs.ts'
import type { RecordOf } from '../model/define.ts'
import type { DEPLOYMENTS, DeploymentFailure } from '../models/deployments.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'

export { DEPLOYMENT_KINDS, DEPLOYMENT_STATUSES, IN_PROGRESS } from '../models/deployments.ts'
export type { DeploymentFailure } from '../models/deployments.ts'

export type DeploymentRecord = RecordOf<typeof DEPLOYMENTS>
export type DeploymentStatus = DeploymentRecord['status']
export type DeploymentKind = DeploymentRecord['kind']

/** Why an app was taken offline. */
export type OfflineReason = NonNullable<DeploymentRecord['reason']>

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

/** A deployment still to be run. */
export function newDeployment(given: GivenDeployment): NewDeployment {
  return {
    status: 'queued',
    artifact: null,
    previous_deployment_id: null,
    restored_from: null,
    reason: null,
    error: null,
    step: null,
    done: 0,
    total: null,
    started_at: null,
    live_at: null,
    ended_at: null,
    cancel_at: null,
    announced: false,
    retire_earlier: false,
    ...given,
  }
}

type GivenDeployment = Partial<NewDeployment> &
  Pick<
    NewDeployment,
    | 'id'
    | 'app_id'
    | 'account_id'
    | 'kind'
    | 'revision'
    | 'edit_id'
    | 'message'
    | 'created_by'
    | 'created_at'
  >
