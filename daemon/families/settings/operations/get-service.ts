import { operation } from '../../../operations/operation.ts'
import { findApp } from '../../apps/service.ts'
import { findService } from '../service.ts'
import { exampleService, serviceParams, serviceRecord, toWireService } from '../services/schema.ts'

export const getService = operation({
  effect: 'read',
  id: 'settings.get_service',
  summary: 'Read a service of an app, without secret values. Not used yet',
  method: 'GET',
  path: '/v1/apps/{app_id}/settings/services/{service}',
  access: { scope: 'settings:read', pinned: 'allowed' },
  emits: ['settings'],
  input: { params: serviceParams },
  output: serviceRecord,
  errors: ['app_not_found', 'service_not_found'],
  example: {
    params: { app_id: exampleService.app_id, service: exampleService.name },
    response: exampleService,
  },
  command: 'service get',
  async run({ platform, principal, params }) {
    const { apps, services } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    return toWireService(await findService(services, app.id, params.service))
  },
})
