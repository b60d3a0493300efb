import { readOperation } from '../../../family.ts'
import { appParams, appRecord, exampleApp, toWireApp } from '../schema.ts'
import { findApp } from '../service.ts'

export const getApp = readOperation({
  id: 'apps.get',
  summary: 'Read an app',
  method: 'GET',
  path: '/v1/apps/{app_id}',
  access: { scope: 'apps:read', pinned: 'allowed' },
  input: { params: appParams },
  output: appRecord,
  errors: ['app_not_found'],
  example: { params: { app_id: exampleApp.id }, response: exampleApp },
  command: 'app get',
  async run({ platform, principal, params }) {
    return toWireApp(await findApp(platform.store.apps, principal, params.app_id))
  },
})
