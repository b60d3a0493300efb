import { operation } from '../../../operations/operation.ts'
import { appParams, exampleApp } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { showApp } from '../../apps/show.ts'
import { deployStatus, exampleDeployment } from '../schema.ts'
import { showDeployments } from '../show.ts'

export const getDeployStatus = operation({
  effect: 'read',
  id: 'deploy.status',
  summary: 'Read the live deployment of an app, the one in progress, and the last that failed',
  method: 'GET',
  path: '/v1/apps/{app_id}/deploy/status',
  access: { scope: 'deploy:read', pinned: 'allowed' },
  agent: { toolset: 'deploy', default: true },
  emits: ['deploy'],
  input: { params: appParams },
  output: deployStatus,
  errors: ['app_not_found'],
  example: {
    params: { app_id: exampleApp.id },
    response: {
      app_id: exampleApp.id,
      publish_state: 'published',
      production_url: exampleApp.production_url,
      live: exampleDeployment,
      in_progress: null,
      last_failed: null,
    },
  },
  command: 'deploy status',
  async run({ platform, principal, params }) {
    const { apps, deployments } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const show = await showDeployments(platform, deployments, app)
    const live = await deployments.live(app.id)
    const underWay = await deployments.inProgress(app.id)
    const failed = await deployments.lastFailed(app.id)
    const { publish_state, production_url } = await showApp(platform, deployments, app)
    return {
      app_id: app.id,
      publish_state,
      production_url,
      live: live === undefined ? null : show(live),
      in_progress: underWay === undefined ? null : show(underWay),
      last_failed: failed === undefined ? null : show(failed),
    }
  },
})
