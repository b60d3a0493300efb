import { defineFamily } from '../../operations/family.ts'
import { appsFamily } from '../apps/family.ts'
import { deployError } from './errors.ts'
import { deployEvents } from './events.ts'
import { cancelInProgress, takeOffline } from './offline.ts'
import { cancelDeployment } from './operations/cancel.ts'
import { followDeployment } from './operations/follow.ts'
import { getDeployment } from './operations/get.ts'
import { listDeploymentLines } from './operations/list-lines.ts'
import { listDeployments } from './operations/list.ts'
import { publishApp } from './operations/publish.ts'
import { rollBackApp } from './operations/rollback.ts'
import { getDeployStatus } from './operations/status.ts'
import { unpublishApp } from './operations/unpublish.ts'
import { createDeployHandler } from './run.ts'

/** Deployments: what the address of an app serves, and its history. */
export const deployFamily = defineFamily({
  name: 'deploy',
  needs: [appsFamily],
  scopes: { deploy: ['read', 'write'] },
  events: deployEvents.types,
  errors: deployError,
  operations: [
    publishApp,
    unpublishApp,
    rollBackApp,
    getDeployStatus,
    listDeployments,
    getDeployment,
    listDeploymentLines,
    followDeployment,
    cancelDeployment,
  ],
  jobs: [{ createHandler: createDeployHandler }],
  extendsApps: {
    async archiving(change, app) {
      await cancelInProgress(change, app.id)
      await takeOffline(change, app, { reason: 'archived', message: null })
    },
  },
})
