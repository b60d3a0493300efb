import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { listJobLines } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import { deploymentParams, exampleDeployment, linePage, toWireLine } from '../schema.ts'
import { findDeployment } from '../service.ts'

export const listDeploymentLines = operation({
  effect: 'read',
  id: 'deploy.logs',
  summary: 'List the log lines of a deployment, oldest first',
  method: 'GET',
  path: '/v1/apps/{app_id}/deployments/{deployment_id}/logs',
  access: { scope: 'deploy:read', pinned: 'allowed' },
  agent: { toolset: 'deploy', resource: true },
  emits: ['deploy'],
  input: { params: deploymentParams, query: z.strictObject(pageQuery) },
  output: linePage,
  errors: ['app_not_found', 'deployment_not_found', 'invalid_cursor'],
  example: {
    params: { app_id: exampleDeployment.app_id, deployment_id: exampleDeployment.id },
    response: {
      data: [
        {
          number: 1,
          at: exampleDeployment.created_at,
          step: 'building',
          message: 'Making the release.',
        },
      ],
      has_more: false,
      next_cursor: null,
    },
  },
  command: 'deploy logs',
  async run(call) {
    const { id } = (await findDeployment(call.platform.store, call)).deployment
    return listJobLines(call, { list: 'deployment-lines', deployment: id }, id, toWireLine)
  },
})
