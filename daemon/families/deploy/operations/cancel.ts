import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { deployError } from '../errors.ts'
import { FAILURES } from '../failures.ts'
import {
  deploymentParams,
  deploymentRecord,
  exampleDeployment,
  exampleQueued,
  isInProgress,
} from '../schema.ts'
import { findDeployment, noteDeployment } from '../service.ts'
import { showDeployment } from '../show.ts'
import { publishFailed } from '../publish-events.ts'

const ERROR = { ...FAILURES.canceled, step: null }

export const cancelDeployment = operation({
  effect: 'write',
  id: 'deploy.cancel',
  summary: 'Cancel a deployment: at once if queued, at the next step if running',
  method: 'POST',
  path: '/v1/apps/{app_id}/deployments/{deployment_id}/cancel',
  access: { scope: 'deploy:write', pinned: 'allowed' },
  agent: { toolset: 'deploy', destructive: true },
  emits: ['deploy'],
  input: { params: deploymentParams, body: z.strictObject({}).optional() },
  output: deploymentRecord,
  accepted: isInProgress,
  errors: ['app_not_found', 'deployment_not_found', 'deployment_finished'],
  example: {
    params: { app_id: exampleDeployment.app_id, deployment_id: exampleDeployment.id },
    response: {
      ...exampleQueued,
      status: 'canceled',
      error: ERROR,
      available_actions: [],
      ended_at: exampleQueued.created_at,
    },
    accepted: {
      ...exampleQueued,
      status: 'building',
      step: 'building',
      available_actions: [],
      started_at: exampleQueued.created_at,
    },
  },
  command: 'deploy cancel',
  async run(call) {
    const { platform, tx, now } = call
    const { app, deployment } = await findDeployment(tx, call)
    const end = { status: 'canceled', ended_at: now, error: ERROR } as const
    const canceled = await tx.deployments.cancel(deployment.id, end)
    if (canceled === 'late') throw deployError('deployment_finished')
    if (canceled === 'canceled') await publishFailed(platform, tx, deployment, end)
    await noteDeployment(call, deployment, 'deployment.canceled')
    tx.afterCommit(() => {
      platform.workAvailable.jobs('deployment')
    })
    const known = await tx.deployments.get(app.id, deployment.id)
    return showDeployment(platform, tx.deployments, app, known ?? deployment)
  },
})
