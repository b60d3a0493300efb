import { operation } from '../../../operations/operation.ts'
import { appParams, appRecord, exampleApp } from '../schema.ts'
import { findApp } from '../service.ts'
import { showApp } from '../show.ts'

export const getApp = operation({
  effect: 'read',
  id: 'apps.get',
  summary: 'Read an app',
  method: 'GET',
  path: '/v1/apps/{app_id}',
  access: { scope: 'apps:read', pinned: 'allowed' },
  emits: ['apps'],
  input: { params: appParams },
  output: appRecord,
  errors: ['app_not_found'],
  example: { params: { app_id: exampleApp.id }, response: exampleApp },
  command: 'app get',
  async run({ platform, principal, params }) {
    const { apps, deployments } = platform.store
    return showApp(platform, deployments, await findApp(apps, principal, params.app_id))
  },
})
