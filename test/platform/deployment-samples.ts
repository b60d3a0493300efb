import assert from 'node:assert/strict'
import type {
  DeploymentEnd,
  DeploymentRecord,
  NewDeployment,
} from '../../plugins/platform/contract/deployments.ts'
import type { JobClaim } from '../../plugins/platform/contract/jobs.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'
import { sampleClaim } from './job-samples.ts'
import { sampleApp } from './app-samples.ts'

export const LEASE = 60_000
export const NO_PLACE = { step: null, done: 0, total: null }

/** Digests of manifests. */
export const [FIRST = '', SECOND = '', THIRD = ''] = ['a1', 'b2', 'c3'].map((one) => one.repeat(32))

/** A publication that waits; ids sort in the order in which deployments were made. */
export function sampleDeployment(id: string, changes: Partial<NewDeployment> = {}): NewDeployment {
  return {
    id,
    app_id: 'app_1',
    account_id: ACCOUNT,
    kind: 'publish',
    status: 'queued',
    revision: 1,
    edit_id: 'edit_1',
    artifact: null,
    previous_deployment_id: null,
    restored_from: null,
    message: 'Größer',
    reason: null,
    error: null,
    created_by: { type: 'key', id: 'key_1' },
    created_at: BORN,
    started_at: null,
    live_at: null,
    ended_at: null,
    cancel_at: null,
    announced: false,
    retire_earlier: false,
    ...NO_PLACE,
    ...changes,
  }
}

export function sampleFailure(changes: Partial<DeploymentEnd> = {}): DeploymentEnd {
  const error = {
    code: 'nothing_to_serve',
    class: 'code',
    message: 'm',
    step: 'building',
    retryable: false,
  }
  return { status: 'failed', ended_at: BORN + 500, error, ...changes }
}

/** The label of an app's preview. */
export function previewOf(app: string): string {
  return `preview-of-${app}`
}

/** Apps with a site on which nothing is live. */
export async function insertSites(store: PlatformStore, ...apps: readonly string[]): Promise<void> {
  await store.write(async (tx) => {
    for (const id of apps) {
      const app = sampleApp(id)
      await tx.apps.insert(app)
      const preview = previewOf(id)
      await tx.deployments.openSite({ app_id: id, account_id: app.account_id, preview })
    }
  })
}

/** Deployments of apps that have none in progress, in their order. */
export async function insertDeployments(
  store: PlatformStore,
  ...deployments: readonly NewDeployment[]
): Promise<readonly DeploymentRecord[]> {
  return store.write(async (tx) => {
    const made: DeploymentRecord[] = []
    for (const one of deployments) {
      const record = await tx.deployments.insert(one)
      assert.ok(record, `${one.id} is inserted`)
      made.push(record)
    }
    return made
  })
}

export function claimDeployment(
  store: PlatformStore,
  claim: string,
  now: number,
): Promise<DeploymentRecord | undefined> {
  return beginDeployment(store, sampleClaim(claim, now))
}

/** Claims the next deployment as whoever carries it out does. */
export function beginDeployment(
  store: PlatformStore,
  asked: JobClaim,
): Promise<DeploymentRecord | undefined> {
  return store.write(async (tx) => {
    const job = await tx.jobs.claim('deployment', asked)
    return job && tx.deployments.begin(job, asked.now)
  })
}

/** Takes a deployment from its beginning to where it is live, told of. */
export async function makeLive(
  store: PlatformStore,
  id: string,
  artifact: string,
  now: number,
  changes: Partial<NewDeployment> = {},
): Promise<DeploymentRecord> {
  return store.write(async ({ deployments, jobs }) => {
    await deployments.insert(sampleDeployment(id, { created_at: now, ...changes }))
    const job = await jobs.claimOne('deployment', id, sampleClaim(`claim of ${id}`, now))
    assert.ok(job)
    await deployments.begin(job, now)
    assert.equal(await deployments.built(id, `claim of ${id}`, artifact), 'held')
    assert.equal(await deployments.prepareSwitch(id, `claim of ${id}`), true)
    const live = await deployments.switch(id, `claim of ${id}`, now)
    assert.equal(await deployments.announce(id), true)
    assert.equal(live?.id, id)
    return { ...live, announced: true }
  })
}

/** Apps of whose sites a store tells from now on. Of what it changed itself it may tell twice, or late. */
export function sitesTold(store: PlatformStore): ReadonlySet<string> {
  const told = new Set<string>()
  store.changes.listen((change) => {
    if (change !== 'all' && change.kind === 'site') told.add(change.id)
  })
  return told
}
