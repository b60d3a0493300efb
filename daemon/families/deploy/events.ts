import { z } from 'zod'
import { IDENTIFIERS, defineEvents } from '../../events/types.ts'
import { deploymentRecord } from './schema.ts'

const APP = 'k3v9q2m7x4ta'
const DEPLOYMENT = '01890a5d-ac96-774b-bcce-b302099a8059'
const BEFORE = '01890a5d-ac96-774b-bcce-b302099a8058'
const URL = 'https://shop.apps.example.net'

const { release, kind, revision, edit_id, previous_deployment_id, restored_from, reason, error } =
  deploymentRecord.shape

const deployment = { app_id: z.string(), deployment_id: z.string(), release }

const live = {
  ...deployment,
  url: z
    .string()
    .nullable()
    .meta({ description: 'Address of the app; null where apps are not served.' }),
  revision,
}

const trigger = z.strictObject({
  type: z.enum(['key', 'user', 'operator']).meta({ description: 'Who requested it.' }),
  key_id: z.string().nullable().meta({ description: 'The key, where a key did.' }),
})

/** Who requested a deployment, as its events tell it. */
export type Trigger = z.input<typeof trigger>

/**
 * Events of deployments: one for each, when it is live or when it has failed. The last one is sent to webhooks
 * that name it.
 */
export const deployEvents = defineEvents([
  {
    type: 'app.deployed',
    scope: IDENTIFIERS,
    description: 'A production deploy finishes successfully: the address serves the new release.',
    schema: z.strictObject({ ...live, edit_id, previous_deployment_id, trigger }),
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
    schema: z.strictObject({
      ...live,
      restored_from,
      rolled_back_from: previous_deployment_id,
      trigger,
    }),
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
    schema: z.strictObject({ ...deployment, previous_deployment_id, reason: reason.unwrap() }),
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
    schema: z.strictObject({
      ...deployment,
      kind,
      error: error.unwrap().omit({ retryable: true }),
    }),
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
