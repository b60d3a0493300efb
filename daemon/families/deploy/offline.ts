import type { AppRecord } from '../../../plugins/platform/contract/apps.ts'
import type {
  DeploymentRecord,
  OfflineReason,
} from '../../../plugins/platform/contract/deployments.ts'
import { creatorOf } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { FAILURES } from './failures.ts'
import { publishFailed, publishLive } from './publish-events.ts'
import { deployEvents } from './events.ts'

/**
 * Unpublishes an app and publishes the event. Returns the deployment that records it; undefined when nothing is
 * live.
 */
export async function takeOffline(
  { platform, principal, tx, now }: Pick<Change, 'platform' | 'principal' | 'tx' | 'now'>,
  { id: app_id, account_id }: AppRecord,
  given: { readonly reason: OfflineReason; readonly message: string | null },
): Promise<DeploymentRecord | undefined> {
  const live = await tx.deployments.live(app_id)
  if (live === undefined) return undefined
  // Its worker may not have published `app.deployed` yet, and could not any more.
  await publishLive(platform, tx, live, now)
  const offline = await tx.deployments.unpublish({
    ...given,
    id: platform.newId(),
    app_id,
    account_id,
    created_by: creatorOf(principal),
    created_at: now,
  })
  if (offline === undefined) return undefined
  const data = {
    app_id,
    deployment_id: offline.id,
    release: offline.release,
    previous_deployment_id: offline.previous_deployment_id,
    reason: given.reason,
  }
  const { engine } = platform
  const type = 'app.unpublished'
  const event = deployEvents.newEvent(engine, account_id, type, data, now, app_id)
  await engine.publishIn(tx, [event])
  return offline
}

/**
 * Cancels the queued deployment of an app, or asks the running one to stop. For an app that is being archived,
 * which also refuses a deployment that can no longer be canceled.
 */
export async function cancelInProgress(
  { platform, tx, now }: Pick<Change, 'platform' | 'tx' | 'now'>,
  appId: string,
): Promise<void> {
  const deployment = await tx.deployments.inProgress(appId)
  if (deployment === undefined) return
  const error = { ...FAILURES.canceled, step: null }
  const end = { status: 'canceled', ended_at: now, error } as const
  if ((await tx.deployments.cancel(deployment.id, end)) === 'canceled') {
    await publishFailed(platform, tx, deployment, end)
  }
  tx.afterCommit(() => {
    platform.workAvailable.jobs('deployment')
  })
}
