import type { SkillArtifact } from '../../operations/agent.ts'
import { z } from 'zod'
import { toIso } from '../../../lib/time.ts'
import type { DeploymentRecord } from '../../../plugins/platform/contract/deployments.ts'
import type { JobLine } from '../../../plugins/platform/contract/jobs.ts'
import {
  DEPLOYMENT_KINDS,
  DEPLOYMENT_STATUSES,
  IN_PROGRESS,
} from '../../../plugins/platform/contract/deployments.ts'
import { exampleApp, publishState } from '../apps/schema.ts'
import { creator, instant, isoOrNull, pageOf, plainText, text } from '../wire.ts'

export const deploymentParams = z.strictObject({ app_id: plainText, deployment_id: plainText })

export const message = text(500).meta({ description: 'Reason, shown with the deployment.' })

export const dryRun = z
  .boolean()
  .optional()
  .meta({ description: 'Only return what would be done; change nothing. Default false.' })

export const retireEarlier = z.boolean().optional().meta({
  description:
    'Stop serving files of earlier releases to open pages once this is live. Default false: served for a day.',
})

const failure = z
  .strictObject({
    code: z.string(),
    class: z.string().meta({
      description:
        'Cause, which says who can fix it: transient, code, configuration, data, integration, policy or internal.',
    }),
    message: z.string(),
    step: z.string().nullable().meta({ description: 'Step that failed.' }),
    retryable: z.boolean(),
  })
  .nullable()

/** Operations that the status of a deployment allows. */
export const ACTIONS = ['cancel', 'unpublish', 'rollback'] as const

export type Action = (typeof ACTIONS)[number]

const fields = {
  id: z.string(),
  deployment_id: z.string().meta({ description: 'Same as id.' }),
  app_id: z.string(),
  release: z
    .int()
    .meta({ description: 'Number of the release: 1, 2, … in the order of requests.' }),
  kind: z.enum(DEPLOYMENT_KINDS),
  status: z.enum(DEPLOYMENT_STATUSES),
  step: z.string().nullable().meta({ description: 'Current step; null when none runs.' }),
  progress: z.strictObject({ done: z.int(), total: z.int().nullable() }),
  revision: z.int().nullable(),
  edit_id: z.string().nullable().meta({ description: 'Edit that made the revision.' }),
  url: z
    .string()
    .nullable()
    .meta({ description: 'Address of the live release; null unless it is live.' }),
  artifact_digest: z.string().nullable().meta({
    description: 'SHA-256 of the list of served files; null until it is built.',
  }),
  previous_deployment_id: z
    .string()
    .nullable()
    .meta({ description: 'Deployment that was live before.' }),
  restored_from: z
    .string()
    .nullable()
    .meta({ description: 'Deployment whose release a rollback restores.' }),
  message: z.string().nullable(),
  retire_earlier: z.boolean().meta({
    description: 'Whether files of earlier releases are no longer served to open pages.',
  }),
  reason: z.enum(['request', 'archived', 'suspended']).nullable().meta({
    description: 'Reason why the app went offline.',
  }),
  error: failure,
  available_actions: z.array(z.enum(ACTIONS)),
  created_by: creator,
  created_at: instant,
  started_at: instant.nullable(),
  live_at: instant.nullable(),
  ended_at: instant.nullable(),
}

export const deploymentRecord = z.strictObject(fields).meta({ id: 'Deployment' })

export const deploymentPage = pageOf(deploymentRecord)

type WireDeployment = z.input<typeof deploymentRecord>

/** Response of a request that may change nothing: it is not needed, or a dry run. */
export const deploymentAnswer = z
  .strictObject({
    ...fields,
    id: z.string().nullable().meta({ description: 'Id; null for a dry run.' }),
    deployment_id: z.string().nullable(),
    release: z.int().nullable(),
    no_change: z.boolean().meta({ description: 'Whether the requested release is already live.' }),
    dry_run: z.boolean(),
  })
  .meta({ id: 'DeploymentAnswer' })

export type WireAnswer = z.input<typeof deploymentAnswer>

/** Whether it is still in progress. */
export function isInProgress({ status }: Pick<DeploymentRecord, 'status'>): boolean {
  return (IN_PROGRESS as readonly string[]).includes(status)
}

export function toWireDeployment(
  one: DeploymentRecord,
  url: string | null,
  actions: readonly Action[],
): WireDeployment {
  return {
    id: one.id,
    deployment_id: one.id,
    app_id: one.app_id,
    release: one.release,
    kind: one.kind,
    status: one.status,
    step: one.step,
    progress: { done: one.done, total: one.total },
    revision: one.revision,
    edit_id: one.edit_id,
    url: one.status === 'live' ? url : null,
    artifact_digest: one.artifact,
    previous_deployment_id: one.previous_deployment_id,
    restored_from: one.restored_from,
    message: one.message,
    retire_earlier: one.retire_earlier,
    reason: one.reason,
    error: one.error && { ...one.error },
    available_actions: [...actions],
    created_by: { ...one.created_by },
    created_at: toIso(one.created_at),
    started_at: isoOrNull(one.started_at),
    live_at: isoOrNull(one.live_at),
    ended_at: isoOrNull(one.ended_at),
  }
}

export const deployStatus = z
  .strictObject({
    app_id: z.string(),
    publish_state: publishState,
    production_url: z.string().nullable(),
    live: deploymentRecord.nullable(),
    in_progress: deploymentRecord.nullable(),
    last_failed: deploymentRecord.nullable(),
  })
  .meta({ id: 'DeployStatus' })

const line = z
  .strictObject({
    number: z.int(),
    at: instant,
    step: z.string().nullable(),
    message: z.string(),
  })
  .meta({ id: 'DeploymentLine' })

export const linePage = pageOf(line)

/** Events of the stream of a deployment. */
export const deploymentStreamData = z.union([line, deploymentRecord])
export type DeploymentStreamData = z.input<typeof deploymentStreamData>

export function toWireLine({ number, at, stage, message }: JobLine): z.input<typeof line> {
  return { number, at: toIso(at), step: stage, message }
}

const AT = '2026-01-31T12:00:00.000Z'

/** Deployment of the examples. */
export const exampleDeployment = {
  id: '01890a5d-ac96-774b-bcce-b302099a8059',
  deployment_id: '01890a5d-ac96-774b-bcce-b302099a8059',
  app_id: exampleApp.id,
  release: 4,
  kind: 'publish',
  status: 'live',
  step: null,
  progress: { done: 0, total: null },
  revision: 7,
  edit_id: '01890a5d-ac96-774b-bcce-b302099a8057',
  url: exampleApp.production_url,
  artifact_digest: '7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069',
  previous_deployment_id: '01890a5d-ac96-774b-bcce-b302099a8058',
  restored_from: null,
  message: 'Opening hours',
  retire_earlier: false,
  reason: null,
  error: null,
  available_actions: ['unpublish'],
  created_by: exampleApp.created_by,
  created_at: AT,
  started_at: AT,
  live_at: AT,
  ended_at: null,
} as const

export const exampleQueued = {
  ...exampleDeployment,
  status: 'queued',
  url: null,
  artifact_digest: null,
  previous_deployment_id: null,
  available_actions: ['cancel'],
  started_at: null,
  live_at: null,
} as const

export const exampleRollback = {
  ...exampleQueued,
  id: '01890a5d-ac96-774b-bcce-b302099a8060',
  deployment_id: '01890a5d-ac96-774b-bcce-b302099a8060',
  release: 5,
  kind: 'rollback',
  revision: 3,
  artifact_digest: exampleDeployment.artifact_digest,
  restored_from: '01890a5d-ac96-774b-bcce-b302099a8056',
  message: 'Back to before the holidays',
} as const

export const exampleOffline = {
  ...exampleDeployment,
  id: '01890a5d-ac96-774b-bcce-b302099a8061',
  deployment_id: '01890a5d-ac96-774b-bcce-b302099a8061',
  release: 5,
  kind: 'unpublish',
  revision: null,
  edit_id: null,
  url: null,
  artifact_digest: null,
  previous_deployment_id: exampleDeployment.id,
  message: 'Closed for the season',
  reason: 'request',
  available_actions: [],
} as const

/** Path of a deployment's record. */
export function pathOfDeployment({
  app_id,
  id,
}: Pick<z.input<typeof deploymentAnswer>, 'app_id' | 'id'>): string {
  return `/v1/apps/${app_id}/deployments/${id ?? ''}`
}

/** The address of the release, while it is live; the record of the deployment is an artifact anyway. */
export const RELEASE: SkillArtifact = {
  name: 'release',
  operation: 'deploy.get',
  ask: ({ app_id, id }) => ({ app_id: String(app_id), deployment_id: String(id) }),
  as: 'url',
  mediaType: 'text/html',
  show: ({ url }) => (typeof url === 'string' ? url : undefined),
}
