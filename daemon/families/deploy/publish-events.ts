import type { PlatformTx } from '../../../plugins/platform/contract.ts'
import type {
  DeploymentEnd,
  DeploymentRecord,
} from '../../../plugins/platform/contract/deployments.ts'
import type { Instant } from '../../../lib/time.ts'
import { productionUrl } from '../../hosting/address.ts'
import { moveTask } from '../../jobs/tasks.ts'
import type { Platform } from '../../platform.ts'
import type { Trigger } from './events.ts'
import { deployEvents } from './events.ts'

type Publishing = Pick<Platform, 'engine' | 'newId' | 'clock' | 'appsHosting'>

/**
 * Publishes that a deployment is live, unless that was published already: before any event of a later
 * deployment.
 */
export async function publishLive(
  platform: Publishing,
  tx: PlatformTx,
  live: DeploymentRecord,
  now: Instant,
): Promise<void> {
  const { engine, appsHosting } = platform
  if (!(await tx.deployments.announce(live.id))) return
  const { id, app_id, account_id, release, revision, kind } = live
  const app = await tx.apps.get(account_id, app_id)
  const url = app === undefined ? null : productionUrl(appsHosting, app)
  const common = { app_id, deployment_id: id, release, url, revision }
  const trigger = triggerOf(live)
  const before = live.previous_deployment_id
  const isRollback = kind === 'rollback'
  const data = isRollback
    ? { ...common, restored_from: live.restored_from, rolled_back_from: before, trigger }
    : { ...common, edit_id: live.edit_id, previous_deployment_id: before, trigger }
  const type = isRollback ? 'app.rolled_back' : 'app.deployed'
  const event = deployEvents.newEvent(engine, account_id, type, data, now, app_id)
  await engine.publishIn(tx, [event])
  await moveTask(platform, tx, id, { state: 'completed', at: now })
  await tx.jobs.log(id, [{ at: now, stage: null, message: `Release ${release} is live.` }])
}

function triggerOf({ created_by: { type, id } }: DeploymentRecord): Trigger {
  // The portal releases nothing.
  return { type: type === 'portal' ? 'user' : type, key_id: type === 'key' ? id : null }
}

/** Publishes that a deployment failed or was canceled, in the unit of work that ended it. */
export async function publishFailed(
  platform: Publishing,
  tx: PlatformTx,
  { id, app_id, account_id, release, kind }: DeploymentRecord,
  { status, error, ended_at }: DeploymentEnd,
): Promise<void> {
  const { code, class: whose, message, step } = error
  const data = {
    app_id,
    deployment_id: id,
    release,
    kind,
    error: { code, class: whose, message, step },
  }
  const type = 'app.deploy_failed'
  const event = deployEvents.newEvent(platform.engine, account_id, type, data, ended_at, app_id)
  await platform.engine.publishIn(tx, [event])
  await moveTask(platform, tx, id, { state: status, at: ended_at, error })
  await tx.jobs.log(id, [{ at: ended_at, stage: null, message }])
}
