import type { AppRecord, RevisionRecord } from '../../../plugins/platform/contract/apps.ts'
import type {
  DeploymentReads,
  DeploymentRecord,
  NewDeployment,
} from '../../../plugins/platform/contract/deployments.ts'
import { newDeployment } from '../../../plugins/platform/contract/deployments.ts'
import type { Call } from '../../operations/call.ts'
import { httpError } from '../../operations/errors.ts'
import type { Platform } from '../../platform.ts'
import { accountOf, creatorOf } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { audit } from '../audit/note.ts'
import { findApp } from '../apps/service.ts'
import { deployError } from './errors.ts'
import type { WireAnswer } from './schema.ts'
import { toWireDeployment } from './schema.ts'

type DeploymentCall = Pick<Call, 'principal'> & {
  readonly params: { readonly app_id: string; readonly deployment_id: string }
}

/** A deployment of an app that the caller may see. */
export async function findDeployment(
  {
    apps,
    deployments,
  }: { readonly apps: Parameters<typeof findApp>[0]; readonly deployments: DeploymentReads },
  { principal, params }: DeploymentCall,
): Promise<{ readonly app: AppRecord; readonly deployment: DeploymentRecord }> {
  const app = await findApp(apps, principal, params.app_id)
  const deployment = await deployments.get(app.id, params.deployment_id)
  if (deployment === undefined) throw deployError('deployment_not_found')
  return { app, deployment }
}

/** @throws KeyhookError `capability_unavailable` without a deployer */
export function requireDeployer({ plugins: { deployer, appBytes } }: Platform): void {
  if (deployer === undefined || appBytes === undefined) throw httpError('capability_unavailable')
}

/** @throws KeyhookError `deploy_in_progress` with its id */
export async function requireIdle(
  deployments: Pick<DeploymentReads, 'inProgress'>,
  appId: string,
): Promise<void> {
  const other = await deployments.inProgress(appId)
  if (other === undefined) return
  throw deployError('deploy_in_progress', { details: { deployment_id: other.id } })
}

/** A requested deployment, still to be run. */
export function requestedDeployment(
  { platform, principal, now }: Pick<Change, 'platform' | 'principal' | 'now'>,
  { id: app_id, account_id }: AppRecord,
  given: Pick<NewDeployment, 'kind' | 'revision' | 'edit_id' | 'message'> & Partial<NewDeployment>,
): NewDeployment {
  const created_by = creatorOf(principal)
  return newDeployment({
    id: platform.newId(),
    app_id,
    account_id,
    created_by,
    created_at: now,
    ...given,
  })
}

/** Enqueues a deployment. */
export async function enqueue(call: Change, deployment: NewDeployment): Promise<DeploymentRecord> {
  const { platform, tx } = call
  const queued = await tx.deployments.insert(deployment)
  if (queued === undefined) throw deployError('deploy_in_progress')
  await noteDeployment(call, queued, 'deployment.requested')
  tx.afterCommit(() => {
    platform.workAvailable.jobs('deployment')
  })
  return queued
}

/** The deployment that a dry run would request. */
export function planOf(deployment: NewDeployment): WireAnswer {
  const planned = toWireDeployment({ ...deployment, release: 0 }, null, [])
  return {
    ...planned,
    id: null,
    deployment_id: null,
    release: null,
    no_change: false,
    dry_run: true,
  }
}

export function revisionOf({ number, edit_id }: RevisionRecord): {
  readonly revision: number
  readonly edit_id: string | null
} {
  return { revision: number, edit_id }
}

/** Writes an audit row for a change of a deployment. */
export async function noteDeployment(
  call: Change,
  { id, app_id }: Pick<DeploymentRecord, 'id' | 'app_id'>,
  action: 'deployment.requested' | 'deployment.canceled',
): Promise<void> {
  const account_id = accountOf(call.principal)
  await audit(call, { account_id, action, target_type: 'deployment', target_id: id, app_id })
}
