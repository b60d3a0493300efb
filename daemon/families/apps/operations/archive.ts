import type { Millis } from '../../../../lib/time.ts'
import { DAY, toIso } from '../../../../lib/time.ts'
import { operation } from '../../../operations/operation.ts'
import { appParams, appRecord, exampleApp } from '../schema.ts'
import { findApp, noteChange } from '../service.ts'
import { showApp } from '../show.ts'
import { appEvents } from '../events.ts'

/** Retention of an archived app, during which it can be restored. */
const RESTORABLE: Millis = 30 * DAY

export const archiveApp = operation({
  effect: 'write',
  id: 'apps.archive',
  summary: 'Archive an app, taking it offline; it can be restored for 30 days',
  method: 'DELETE',
  path: '/v1/apps/{app_id}',
  access: { scope: 'apps:write', pinned: 'allowed' },
  agent: { toolset: 'apps' },
  emits: ['apps'],
  input: { params: appParams },
  output: appRecord,
  errors: ['app_not_found'],
  example: {
    params: { app_id: exampleApp.id },
    response: {
      ...exampleApp,
      status: 'archived',
      publish_state: 'unpublished',
      current_deployment_id: null,
      archived_at: '2026-01-31T12:00:00.000Z',
      purge_at: '2026-03-02T12:00:00.000Z',
    },
  },
  command: 'app archive',
  async run(call) {
    const { platform, principal, tx, params, now } = call
    const app = await findApp(tx.apps, principal, params.app_id)
    if (app.archived_at === null) {
      for (const extension of platform.appExtensions) await extension.archiving?.(call, app)
    }
    const purgeAt = now + RESTORABLE
    if (!(await tx.apps.archive(app.id, now, purgeAt))) {
      return showApp(platform, tx.deployments, app)
    }

    const data = { app_id: app.id, archived_at: toIso(now), purge_at: toIso(purgeAt) }
    const { engine } = platform
    const event = appEvents.newEvent(engine, app.account_id, 'app.deleted', data, now, app.id)
    await engine.publishIn(tx, [event])
    await noteChange(call, app.id, 'app.archived')
    return showApp(platform, tx.deployments, await findApp(tx.apps, principal, app.id))
  },
})
