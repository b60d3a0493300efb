import { z } from 'zod'
import type { DeploymentStatus } from '../../../../plugins/platform/contract/deployments.ts'
import {
  DEPLOYMENT_KINDS,
  DEPLOYMENT_STATUSES,
  IN_PROGRESS,
} from '../../../../plugins/platform/contract/deployments.ts'
import { operation } from '../../../operations/operation.ts'
import { appParams } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { idOf, listPage } from '../../cursor.ts'
import { filteredPageQuery } from '../../wire.ts'
import { deploymentPage, exampleDeployment } from '../schema.ts'
import { showDeployments } from '../show.ts'

/** Deployments that were live, in order. */
const LINEAGE: readonly DeploymentStatus[] = ['live', 'superseded', 'unpublished']

/** Deployments that were never live, by the value of the filter. */
const BESIDE: Readonly<Record<string, readonly DeploymentStatus[]>> = {
  failed: ['failed'],
  canceled: ['canceled'],
  in_progress: IN_PROGRESS,
}

const query = z.strictObject({
  ...filteredPageQuery('deployments'),
  status: z.enum(DEPLOYMENT_STATUSES).optional().meta({ description: 'Filter. Default: all.' }),
  kind: z.enum(DEPLOYMENT_KINDS).optional(),
  include: z
    .string()
    .max(50)
    .regex(
      /^(failed|canceled|in_progress)(,(failed|canceled|in_progress))*$/,
      'Must be failed, canceled or in_progress, or several of them with commas between.',
    )
    .optional()
    .meta({
      description:
        'Also deployments that never were live: failed, canceled, in_progress. Default false.',
    }),
})

export const listDeployments = operation({
  effect: 'read',
  id: 'deploy.list',
  summary: 'List the deployments of an app that were live or took it offline, newest first',
  method: 'GET',
  path: '/v1/apps/{app_id}/deployments',
  access: { scope: 'deploy:read', pinned: 'allowed' },
  agent: { toolset: 'deploy', default: true, resource: true },
  emits: ['deploy'],
  input: { params: appParams, query },
  output: deploymentPage,
  errors: ['app_not_found', 'invalid_cursor'],
  example: {
    params: { app_id: exampleDeployment.app_id },
    response: { data: [exampleDeployment], has_more: false, next_cursor: null },
  },
  command: 'deploy list',
  async run(call) {
    const { platform, principal, params, query } = call
    const { apps, deployments } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const { status, kind = null, include = '' } = query
    const beside = include.split(',').flatMap((name) => BESIDE[name] ?? [])
    const statuses = status === undefined ? [...LINEAGE, ...beside] : [status]
    const filters = { app_id: app.id, statuses: [...new Set(statuses)].sort(), kind }
    return listPage(call, {
      list: { list: 'deployments', ...filters },
      read: (range) => deployments.list({ ...filters, ...range }),
      cursorOf: idOf,
      show: () => showDeployments(platform, deployments, app),
    })
  },
})
