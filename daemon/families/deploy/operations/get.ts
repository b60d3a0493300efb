import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { wait } from '../../wire.ts'
import { deploymentParams, deploymentRecord, exampleDeployment } from '../schema.ts'
import { findDeployment } from '../service.ts'
import { showDeployment } from '../show.ts'
import { waitForEnd } from '../wait.ts'

export const getDeployment = operation({
  effect: 'read',
  id: 'deploy.get',
  summary: 'Read a deployment, or wait until it is live or has ended',
  method: 'GET',
  path: '/v1/apps/{app_id}/deployments/{deployment_id}',
  access: { scope: 'deploy:read', pinned: 'allowed' },
  agent: { toolset: 'deploy', default: true, resource: true },
  emits: ['deploy'],
  input: { params: deploymentParams, query: z.strictObject({ wait }) },
  output: deploymentRecord,
  errors: ['app_not_found', 'deployment_not_found'],
  example: {
    params: { app_id: exampleDeployment.app_id, deployment_id: exampleDeployment.id },
    response: exampleDeployment,
  },
  command: 'deploy get',
  async run(call) {
    const { platform, query } = call
    const { store } = platform
    const { app, deployment } = await findDeployment(store, call)
    const known = await waitForEnd(call, deployment, query.wait ?? 0)
    return showDeployment(platform, store.deployments, app, known)
  },
})
