import type { DeploymentRecord } from '../../../plugins/platform/contract/deployments.ts'
import { findApp } from '../apps/service.ts'
import type { Waiting } from '../wait.ts'
import { waitUntil } from '../wait.ts'
import type { WireAnswer } from './schema.ts'
import { isInProgress } from './schema.ts'
import { answerWith } from './show.ts'

/** The deployment when it is live or has ended, or at the end of the wait. */
export function waitForEnd(
  waiting: Waiting,
  deployment: DeploymentRecord,
  seconds: number,
): Promise<DeploymentRecord> {
  const { app_id, id } = deployment
  const look = () => waiting.platform.store.deployments.get(app_id, id)
  return waitUntil(waiting, seconds, deployment, (known) => !isInProgress(known), look)
}

/** The response when the requested work is done, or when the caller no longer waits. */
export async function answerLater(
  call: Waiting & {
    readonly params: { readonly app_id: string }
    readonly query: { readonly wait?: number | undefined }
  },
  committed: WireAnswer,
): Promise<WireAnswer> {
  const { platform, principal, params, query } = call
  const { wait = 0 } = query
  if (wait === 0 || committed.id === null || !isInProgress(committed)) return committed
  const { apps, deployments } = platform.store
  const app = await findApp(apps, principal, params.app_id)
  const deployment = await deployments.get(app.id, committed.id)
  if (deployment === undefined) return committed
  const known = await waitForEnd(call, deployment, wait)
  return answerWith(platform, deployments, app, known)
}
