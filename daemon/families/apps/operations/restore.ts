import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { appError } from '../errors.ts'
import { appParams, appRecord, exampleApp } from '../schema.ts'
import { findApp, noteChange, requireAppQuota } from '../service.ts'
import { showApp } from '../show.ts'
import { appEvents } from '../events.ts'

export const restoreApp = operation({
  effect: 'write',
  id: 'apps.restore',
  summary: 'Restore an archived app, offline; without its alias if another app took it',
  method: 'POST',
  path: '/v1/apps/{app_id}/restore',
  access: { scope: 'apps:write', pinned: 'allowed' },
  agent: { toolset: 'apps' },
  emits: ['apps'],
  input: { params: appParams, body: z.strictObject({}).optional() },
  output: appRecord,
  errors: ['app_not_found', 'app_not_archived', 'app_limit_reached'],
  example: {
    params: { app_id: exampleApp.id },
    response: { ...exampleApp, publish_state: 'unpublished', current_deployment_id: null },
  },
  command: 'app restore',
  async run(call) {
    const { platform, principal, tx, params, now } = call
    const { id, account_id, archived_at } = await findApp(tx.apps, principal, params.app_id)
    if (archived_at !== null) await requireAppQuota(tx.apps, account_id, 'archived')
    if (!(await tx.apps.restore(id, now))) throw appError('app_not_archived')

    const app = await findApp(tx.apps, principal, id)
    const data = { app_id: id, alias: app.alias }
    const { engine } = platform
    const event = appEvents.newEvent(engine, account_id, 'app.restored', data, now, id)
    await engine.publishIn(tx, [event])
    await noteChange(call, id, 'app.restored')
    return showApp(platform, tx.deployments, app)
  },
})
