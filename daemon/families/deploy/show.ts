import type { z } from 'zod'
import type { AppRecord } from '../../../plugins/platform/contract/apps.ts'
import type {
  DeploymentReads,
  DeploymentRecord,
} from '../../../plugins/platform/contract/deployments.ts'
import { productionUrl } from '../../hosting/address.ts'
import type { Platform } from '../../platform.ts'
import { RELEASES_KEPT } from '../../trees/releases.ts'
import type { Action, deploymentRecord, WireAnswer } from './schema.ts'
import { isInProgress, toWireDeployment } from './schema.ts'

/** Shows deployments of an app, each with the operations that are possible now. */
export async function showDeployments(
  { appsHosting }: Pick<Platform, 'appsHosting'>,
  deployments: DeploymentReads,
  app: AppRecord,
): Promise<(one: DeploymentRecord) => z.input<typeof deploymentRecord>> {
  const url = productionUrl(appsHosting, app)
  if (app.archived_at !== null) return (one) => toWireDeployment(one, url, [])
  const kept = new Set(await deployments.artifacts(app.id, RELEASES_KEPT))
  const live = await deployments.live(app.id)
  const isFree = (await deployments.inProgress(app.id)) === undefined

  /** Whether its release can be served again. */
  function isBack({ status, artifact }: DeploymentRecord): boolean {
    const isOther = artifact !== null && artifact !== live?.artifact
    return isFree && status === 'superseded' && isOther && kept.has(artifact)
  }

  return (one) => {
    const actions: Action[] = []
    if (isCancelable(one)) actions.push('cancel')
    if (one.status === 'live') actions.push('unpublish')
    if (isBack(one)) actions.push('rollback')
    return toWireDeployment(one, url, actions)
  }
}

function isCancelable({ status, cancel_at }: DeploymentRecord): boolean {
  return status === 'queued' || (status === 'building' && cancel_at === null)
}

export async function showDeployment(
  platform: Pick<Platform, 'appsHosting'>,
  deployments: DeploymentReads,
  app: AppRecord,
  one: DeploymentRecord,
): Promise<z.input<typeof deploymentRecord>> {
  return (await showDeployments(platform, deployments, app))(one)
}

/** Response of a request. */
export async function answerWith(
  platform: Pick<Platform, 'appsHosting'>,
  deployments: DeploymentReads,
  app: AppRecord,
  one: DeploymentRecord,
  { no_change = false, dry_run = false }: Partial<Pick<WireAnswer, 'no_change' | 'dry_run'>> = {},
): Promise<WireAnswer> {
  const shown = await showDeployment(platform, deployments, app, one)
  return { ...shown, no_change, dry_run }
}

/** Whether the requested work is still to be done. */
export function isAccepted(answer: WireAnswer): boolean {
  return !answer.dry_run && isInProgress(answer)
}
