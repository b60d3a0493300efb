import { IDENTIFIERS, defineEvents } from '../../events/types.ts'

const APP = 'k3v9q2m7x4ta'
const DEPLOYMENT = '01890a5d-ac96-774b-bcce-b302099a8059'
const BEFORE = '01890a5d-ac96-774b-bcce-b302099a8058'
const URL = 'https://shop.apps.example.net'

/**
 * Events of deployments: one for each, when it is live or when it has failed. The last one is sent to webhooks
 * that name it.
 */
export const deployEvents = defineEvents([
  {
    type: 'app.deployed',
    scope: IDENTIFIERS,
    description: 'A production deploy finishes successfully: the address serves the new release.',
    sample: {
      app_id: APP,
      deployment_id: DEPLOYMENT,
      release: 4,
      url: URL,
      revision: 7,
      edit_id: '01890a5d-ac96-774b-bcce-b302099a8057',
      previous_deployment_id: BEFORE,
      trigger: { type: 'key', key_id: '01890a5d-ac96-774b-bcce-b302099a8050' },
    },
  },
  {
    type: 'app.rolled_back',
    scope: IDENTIFIERS,
    description: 'A rollback completes: the address serves an earlier release again.',
    sample: {
      app_id: APP,
      deployment_id: DEPLOYMENT,
      release: 5,
      url: URL,
      revision: 3,
      restored_from: '01890a5d-ac96-774b-bcce-b302099a8056',
      rolled_back_from: BEFORE,
      trigger: { type: 'user', key_id: null },
    },
  },
  {
    type: 'app.unpublished',
    scope: IDENTIFIERS,
    description: 'An app is taken offline.',
    sample: {
      app_id: APP,
      deployment_id: DEPLOYMENT,
      release: 6,
      previous_deployment_id: BEFORE,
      reason: 'request',
    },
  },
  {
    type: 'app.deploy_failed',
    scope: IDENTIFIERS,
    description:
      'A publication or a rollback failed or was canceled; the live release is unchanged.',
    sample: {
      app_id: APP,
      deployment_id: DEPLOYMENT,
      release: 7,
      kind: 'publish',
      error: {
        code: 'nothing_to_serve',
        class: 'code',
        message: 'The revision has no file that could be served. Add one, such as index.html.',
        step: 'building',
      },
    },
  },
])
