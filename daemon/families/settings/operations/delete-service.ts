import { operation } from '../../../operations/operation.ts'
import { findLiveApp } from '../../apps/service.ts'
import { findService, noteSetting } from '../service.ts'
import { exampleService, serviceParams, serviceRecord, toWireService } from '../services/schema.ts'

export const deleteService = operation({
  effect: 'write',
  id: 'settings.delete_service',
  summary: 'Delete a service of an app with its secrets',
  method: 'DELETE',
  path: '/v1/apps/{app_id}/settings/services/{service}',
  access: { scope: 'settings:write', pinned: 'allowed' },
  emits: ['settings'],
  input: { params: serviceParams },
  output: serviceRecord,
  errors: ['app_not_found', 'app_archived', 'service_not_found'],
  example: {
    params: { app_id: exampleService.app_id, service: exampleService.name },
    response: exampleService,
  },
  command: 'service delete',
  async run(call) {
    const { principal, tx, params } = call
    const app = await findLiveApp(tx.apps, principal, params.app_id)
    const service = await findService(tx.services, app.id, params.service)
    await tx.services.remove(app.id, service.name)
    await noteSetting(call, app.id, 'service.deleted', service.name)
    return toWireService(service)
  },
})
