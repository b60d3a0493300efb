import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { accountOf } from '../../../authority/principal.ts'
import { appParams, appRecord, exampleApp } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { showApp } from '../../apps/show.ts'
import { audit } from '../../audit/note.ts'
import { takeOffline } from '../offline.ts'
import { deploymentRecord, exampleOffline, message } from '../schema.ts'
import { showDeployment } from '../show.ts'

/** Without data that `apps:read` reads: a key that deploys may not have that scope. */
const unpublishedApp = appRecord
  .pick({ id: true, app_id: true, publish_state: true, current_deployment_id: true })
  .extend({
    deployment: deploymentRecord
      .nullable()
      .meta({ description: 'Deployment that took the app offline; null when it was offline.' }),
  })
  .meta({ id: 'UnpublishedApp' })

export const unpublishApp = operation({
  effect: 'write',
  id: 'deploy.unpublish',
  summary: 'Take an app offline; no change if it is offline',
  method: 'POST',
  path: '/v1/apps/{app_id}/deploy/unpublish',
  access: { scope: 'deploy:write', pinned: 'allowed' },
  agent: { toolset: 'deploy', destructive: true },
  emits: ['deploy'],
  input: {
    params: appParams,
    body: z.strictObject({ message: message.optional() }).optional(),
  },
  output: unpublishedApp,
  errors: ['app_not_found'],
  example: {
    params: { app_id: exampleApp.id },
    body: { message: 'Closed for the season' },
    response: {
      id: exampleApp.id,
      app_id: exampleApp.app_id,
      publish_state: 'unpublished',
      current_deployment_id: null,
      deployment: exampleOffline,
    },
  },
  command: 'deploy unpublish',
  async run(call) {
    const { platform, principal, tx, params, body } = call
    const app = await findApp(tx.apps, principal, params.app_id)
    const given = { reason: 'request', message: body?.message ?? null } as const
    const offline = await takeOffline(call, app, given)
    if (offline !== undefined) {
      await audit(call, {
        account_id: accountOf(principal),
        action: 'app.unpublished',
        target_type: 'app',
        target_id: app.id,
        app_id: app.id,
      })
    }
    const { deployments } = tx
    const deployment = offline && (await showDeployment(platform, deployments, app, offline))
    const { id, app_id, publish_state, current_deployment_id } = await showApp(
      platform,
      deployments,
      app,
    )
    return { id, app_id, publish_state, current_deployment_id, deployment: deployment ?? null }
  },
})
