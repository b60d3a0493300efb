import { operation } from '../../../operations/operation.ts'
import { appChanges, appParams, appRecord, exampleApp } from '../schema.ts'
import { findLiveApp, noteChange, requireFreeAlias } from '../service.ts'
import { showApp } from '../show.ts'

export const updateApp = operation({
  effect: 'write',
  id: 'apps.update',
  summary: 'Change the name, alias or metadata of an app',
  method: 'PATCH',
  path: '/v1/apps/{app_id}',
  access: { scope: 'apps:write', pinned: 'allowed' },
  agent: { toolset: 'apps', default: true },
  emits: ['apps'],
  input: { params: appParams, body: appChanges },
  output: appRecord,
  errors: ['app_not_found', 'app_archived', 'alias_reserved', 'alias_taken'],
  example: {
    params: { app_id: exampleApp.id },
    body: { name: 'Shop' },
    response: exampleApp,
  },
  command: 'app update',
  async run(call) {
    const { platform, principal, tx, params, body, now } = call
    const app = await findLiveApp(tx.apps, principal, params.app_id)
    if (typeof body.alias === 'string' && body.alias !== app.alias) {
      const { id: app_id, account_id } = app
      await requireFreeAlias(platform, tx.apps, body.alias, { account_id, app_id, now })
    }
    const { name, alias, metadata } = body
    const changes = {
      ...(name !== undefined && { name }),
      ...(alias !== undefined && { alias }),
      ...(metadata !== undefined && { metadata }),
    }
    await tx.apps.update(app.id, changes, now)
    await noteChange(call, app.id, 'app.updated')
    return showApp(platform, tx.deployments, await findLiveApp(tx.apps, principal, app.id))
  },
})
