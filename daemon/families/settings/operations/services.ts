import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { appParams, exampleApp } from '../../apps/schema.ts'
import { findApp, findLiveApp } from '../../apps/service.ts'
import { listPage } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import {
  exampleService,
  servicePage,
  toWireService,
  serviceParams,
  serviceRecord,
} from '../services/schema.ts'
import { findService, noteSetting } from '../service.ts'

export const listServices = operation({
  effect: 'read',
  id: 'settings.list_services',
  summary: 'List the services of an app by name, without secret values. Not used yet',
  method: 'GET',
  path: '/v1/apps/{app_id}/settings/services',
  access: { scope: 'settings:read', pinned: 'allowed' },
  agent: { toolset: 'settings' },
  emits: ['settings'],
  input: { params: appParams, query: z.strictObject(pageQuery) },
  output: servicePage,
  errors: ['app_not_found', 'invalid_cursor'],
  example: {
    params: { app_id: exampleApp.id },
    response: { data: [exampleService], has_more: false, next_cursor: null },
  },
  command: 'service list',
  async run(call) {
    const { apps, services } = call.platform.store
    const { id: app_id } = await findApp(apps, call.principal, call.params.app_id)
    return listPage(call, {
      list: { list: 'services', app_id },
      read: (range) => services.list({ app_id, ...range }),
      cursorOf: ({ name }) => name,
      show: () => toWireService,
    })
  },
})

export const getService = operation({
  effect: 'read',
  id: 'settings.get_service',
  summary: 'Read a service of an app, without secret values. Not used yet',
  method: 'GET',
  path: '/v1/apps/{app_id}/settings/services/{service}',
  access: { scope: 'settings:read', pinned: 'allowed' },
  agent: { toolset: 'settings' },
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

export const deleteService = operation({
  effect: 'write',
  id: 'settings.delete_service',
  summary: 'Delete a service of an app with its secrets',
  method: 'DELETE',
  path: '/v1/apps/{app_id}/settings/services/{service}',
  access: { scope: 'settings:write', pinned: 'allowed' },
  agent: { toolset: 'settings' },
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
