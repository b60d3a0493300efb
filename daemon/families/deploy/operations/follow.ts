import type { DeploymentRecord } from '../../../../plugins/platform/contract/deployments.ts'
import type { JobLine } from '../../../../plugins/platform/contract/jobs.ts'
import { operation } from '../../../operations/operation.ts'
import { streamLines } from '../../line-stream.ts'
import type { DeploymentStreamData } from '../schema.ts'
import {
  deploymentStreamData,
  deploymentParams,
  exampleDeployment,
  isInProgress,
  toWireLine,
} from '../schema.ts'
import { findDeployment } from '../service.ts'
import { showDeployment } from '../show.ts'

export const followDeployment = operation({
  effect: 'stream',
  id: 'deploy.follow',
  summary: 'Follow a deployment: log lines, progress and end, as server-sent events',
  method: 'GET',
  path: '/v1/apps/{app_id}/deployments/{deployment_id}/events',
  access: { scope: 'deploy:read', pinned: 'allowed' },
  agent: { omit: 'Followed by the tools that begin the work, which report its progress.' },
  emits: ['deploy'],
  input: { params: deploymentParams },
  output: deploymentStreamData,
  errors: ['app_not_found', 'deployment_not_found'],
  example: {
    params: { app_id: exampleDeployment.app_id, deployment_id: exampleDeployment.id },
    response: {
      number: 1,
      at: exampleDeployment.created_at,
      step: 'building',
      message: 'Making the release.',
    },
  },
  async run(call) {
    const { platform, after, left } = call
    const { deployments, jobs } = platform.store
    const { app, deployment } = await findDeployment(platform.store, call)
    const { id } = deployment
    return streamLines<DeploymentRecord, JobLine, DeploymentStreamData>(
      platform,
      { holder: app.account_id, after, left },
      {
        look: () => deployments.get(app.id, id),
        // The event of a live deployment is published a moment later, and writes the last line.
        isOver: (known) => !isInProgress(known) && (known.status !== 'live' || known.announced),
        lines: (after, limit) => jobs.lines(id, after, limit),
        showLine: toWireLine,
        show: (known) => showDeployment(platform, deployments, app, known),
      },
    )
  },
})
