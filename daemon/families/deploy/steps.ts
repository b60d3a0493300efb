import type { DeployTask, DeployTools, Deployer } from '../../../plugins/deploy/contract.ts'
import { DeployError, printManifest } from '../../../plugins/deploy/contract.ts'
import type { DeploymentRecord } from '../../../plugins/platform/contract/deployments.ts'
import { isStillAllowed } from '../../authority/admission.ts'
import type { Claimed } from '../../jobs/handler.ts'
import { ClaimLost } from '../../jobs/handler.ts'
import { bytesOf, loadTree } from '../../trees/keep.ts'
import { findRevision } from '../apps/service.ts'
import { httpError } from '../../operations/errors.ts'
import type { Platform } from '../../platform.ts'
import { loadManifest } from '../../trees/releases.ts'
import { publishLive } from './publish-events.ts'

/** What a deployer is given besides access to bytes. */
export type StepTools = Pick<DeployTools, 'signal' | 'log' | 'progress'>

/** It must not go live any more. */
export class NotWanted extends Error {
  override readonly name = 'NotWanted'
  readonly why: 'canceled' | 'app_archived' | 'authority_ended'

  constructor(why: NotWanted['why']) {
    super(why)
    this.why = why
  }
}

/** Builds and stores a release, or takes the stored one; returns its digest. */
export async function build(
  platform: Platform,
  { job: { claim }, subject: deployment }: Claimed<DeploymentRecord>,
  stepTools: StepTools,
): Promise<string> {
  const { id } = deployment
  const artifact = deployment.artifact ?? (await make(platform, deployment, stepTools))
  const hold = await platform.store.write((tx) => tx.deployments.built(id, claim, artifact))
  if (hold === 'lost') throw new ClaimLost()
  if (hold === 'cancel') throw new NotWanted('canceled')
  return artifact
}

async function make(
  platform: Platform,
  { id: deployment_id, app_id, account_id, revision }: DeploymentRecord,
  stepTools: StepTools,
): Promise<string> {
  const { apps } = platform.store
  const app = await apps.get(account_id, app_id)
  if (app === undefined) throw new ClaimLost()
  if (app.archived_at !== null) throw new NotWanted('app_archived')
  const bytes = bytesOf(platform)
  const tree = await loadTree(bytes, await findRevision(apps, app, revision ?? undefined))
  const files = [...tree.files.values()]
  const forms = await formsBefore(platform, app_id)
  const task = { deployment_id, app_id, files, config: tree.config, forms }
  const tools = toolsOf(platform, app_id, stepTools)
  const manifest = await deployerOf(platform).build(task, tools)
  const { sha256 } = await bytes.put(app_id, Buffer.from(printManifest(manifest)))
  return sha256
}

/**
 * The live release, so that only changed files are built again. None after a failure: what was built before
 * may have caused it.
 */
async function formsBefore(platform: Platform, app_id: string): Promise<DeployTask['forms']> {
  const { deployments } = platform.store
  const live = await deployments.live(app_id)
  if (live === undefined || live.artifact === null) return new Map()
  const last = await deployments.lastFailed(app_id)
  if (last !== undefined && last.release > live.release) return new Map()
  const loading = loadManifest(bytesOf(platform), app_id, live.artifact)
  const manifest = await loading.catch(() => undefined)
  return new Map(
    [...(manifest?.files.values() ?? [])].flatMap(({ sha256, encoded }) =>
      Object.keys(encoded).length === 0 ? [] : [[sha256, encoded] as const],
    ),
  )
}

/** Checks that all files of a release can be served. */
export async function activate(
  platform: Platform,
  { subject: { id: deployment_id, app_id } }: Claimed<DeploymentRecord>,
  artifact: string,
  stepTools: StepTools,
): Promise<void> {
  const manifest = await loadManifest(bytesOf(platform), app_id, artifact)
  const tools = toolsOf(platform, app_id, stepTools)
  await deployerOf(platform).activate({ deployment_id, app_id, manifest }, tools)
}

/**
 * Makes every process read the live release before each response, so that all switch at once: a page from one
 * process names files that another is asked for next.
 */
export async function prepareSwitch(
  platform: Platform,
  { job: { claim }, subject: deployment }: Claimed<DeploymentRecord>,
): Promise<void> {
  const isHeld = await platform.store.write((tx) =>
    tx.deployments.prepareSwitch(deployment.id, claim),
  )
  if (!isHeld) throw new ClaimLost()
}

/**
 * Switches visitors to the prepared release, if the caller that asked for it still may. Publishes the event
 * of the release that it replaces first, if that was not published yet.
 */
export async function goLive(
  platform: Platform,
  { job: { claim }, subject: deployment }: Claimed<DeploymentRecord>,
): Promise<DeploymentRecord> {
  const { store, clock } = platform
  const { id, app_id } = deployment
  const live = await store.write(async (tx) => {
    const now = clock.now()
    if (!(await isStillAllowed(platform, tx, deployment, ['deploy:write'], now))) {
      throw new NotWanted('authority_ended')
    }
    const before = await tx.deployments.live(app_id)
    if (before?.announced === false) await publishLive(platform, tx, before, now)
    return tx.deployments.switch(id, claim, now)
  })
  if (live !== undefined) return live
  throw await whyNotLive(platform, deployment)
}

async function whyNotLive(
  { store: { accounts, apps, deployments } }: Platform,
  { id, app_id, account_id }: DeploymentRecord,
): Promise<ClaimLost | NotWanted> {
  const app = await apps.get(account_id, app_id)
  const deployment = await deployments.get(app_id, id)
  if (app === undefined || deployment === undefined) return new ClaimLost()
  if (deployment.cancel_at !== null) return new NotWanted('canceled')
  if (app.archived_at !== null) return new NotWanted('app_archived')
  const isSuspended = ((await accounts.get(account_id))?.suspended_at ?? null) !== null
  return isSuspended ? new NotWanted('authority_ended') : new ClaimLost()
}

function deployerOf({ plugins: { deployer } }: Platform): Deployer {
  if (deployer === undefined) throw httpError('capability_unavailable')
  return deployer
}

/** Access of a deployer to the bytes of an app: reading and adding. */
function toolsOf(platform: Platform, appId: string, stepTools: StepTools): DeployTools {
  const bytes = bytesOf(platform)
  const { signal } = stepTools
  return {
    ...stepTools,
    async read(sha256) {
      const opened = await bytes.open(appId, sha256)
      if (opened === undefined) throw new DeployError('file_gone', { internal: sha256 })
      return opened
    },
    keep: (kept) => bytes.put(appId, kept, { signal }),
  }
}
