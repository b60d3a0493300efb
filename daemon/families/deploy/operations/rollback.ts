import { z } from 'zod'
import type { AppRecord } from '../../../../plugins/platform/contract/apps.ts'
import type {
  DeploymentReads,
  DeploymentRecord,
} from '../../../../plugins/platform/contract/deployments.ts'
import type { WriteCall } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { appParams } from '../../apps/schema.ts'
import { findLiveApp } from '../../apps/service.ts'
import { anyText, wait } from '../../wire.ts'
import {
  RELEASE,
  deploymentAnswer,
  dryRun,
  exampleDeployment,
  exampleRollback,
  message,
  pathOfDeployment,
  retireEarlier,
} from '../schema.ts'
import { deployError } from '../errors.ts'
import { RELEASES_KEPT } from '../../../trees/releases.ts'
import type { WireAnswer } from '../schema.ts'
import { enqueue, requestedDeployment, planOf, requireDeployer, requireIdle } from '../service.ts'
import { requireNoSignIn } from '../../sign-in.ts'
import { answerWith, isAccepted } from '../show.ts'
import { answerLater } from '../wait.ts'

const input = {
  params: appParams,
  query: z.strictObject({ wait }),
  body: z
    .strictObject({
      deployment_id: anyText(100).min(1).optional().meta({
        description: 'Deployment whose release is served again. Default: the one before.',
      }),
      message: message.optional(),
      retire_earlier: retireEarlier,
      dry_run: dryRun,
    })
    .optional(),
}

const done = {
  ...exampleRollback,
  status: 'live',
  url: exampleDeployment.url,
  previous_deployment_id: exampleDeployment.id,
  available_actions: ['unpublish'],
  started_at: exampleDeployment.created_at,
  live_at: exampleDeployment.created_at,
} as const

export const rollBackApp = operation({
  effect: 'write',
  id: 'deploy.rollback',
  summary: 'Roll an app back: serve an earlier release unchanged, by a new deployment',
  method: 'POST',
  path: '/v1/apps/{app_id}/deploy/rollback',
  access: { scope: 'deploy:write', pinned: 'allowed' },
  agent: {
    toolset: 'deploy',
    default: true,
    destructive: true,
    skill: {
      name: 'Roll an app back',
      tags: ['app', 'rollback', 'deploy'],
      examples: ['Roll the shop back to the release before.'],
      text: 'message',
      artifacts: [RELEASE],
    },
  },
  emits: ['deploy'],
  input,
  output: deploymentAnswer,
  accepted: isAccepted,
  watch: pathOfDeployment,
  errors: [
    'app_not_found',
    'app_archived',
    'deployment_not_found',
    'deploy_in_progress',
    'already_live',
    'never_live',
    'no_previous_release',
    'release_expired',
    'capability_unavailable',
  ],
  example: {
    params: { app_id: exampleDeployment.app_id },
    body: { message: 'Back to before the holidays' },
    response: { ...done, no_change: false, dry_run: false },
    accepted: { ...exampleRollback, no_change: false, dry_run: false },
  },
  command: 'deploy rollback',
  run: rollBack,
  afterCommit: answerLater,
})

async function rollBack(call: WriteCall<typeof input>): Promise<WireAnswer> {
  const { platform, principal, tx, params, body = {} } = call
  const app = await findLiveApp(tx.apps, principal, params.app_id)
  requireDeployer(platform)
  await requireNoSignIn(tx.signIn, app.id)
  const target = await findTarget(tx.deployments, app, body.deployment_id)
  await requireIdle(tx.deployments, app.id)
  const { revision, edit_id, artifact } = target
  const deployment = requestedDeployment(call, app, {
    kind: 'rollback',
    revision,
    edit_id,
    artifact,
    restored_from: target.id,
    message: body.message ?? null,
    retire_earlier: body.retire_earlier === true,
  })
  if (body.dry_run === true) return planOf(deployment)
  return answerWith(platform, tx.deployments, app, await enqueue(call, deployment))
}

/** A deployment with a release that can be served again. */
async function findTarget(
  deployments: DeploymentReads,
  { id: appId }: AppRecord,
  wanted: string | undefined,
): Promise<DeploymentRecord> {
  const target =
    wanted === undefined ? await deployments.before(appId) : await deployments.get(appId, wanted)
  if (target === undefined) {
    throw deployError(wanted === undefined ? 'no_previous_release' : 'deployment_not_found')
  }
  const { artifact, live_at } = target
  if (artifact === null || live_at === null) throw deployError('never_live')
  const live = await deployments.live(appId)
  if (live?.artifact === artifact) throw deployError('already_live')
  const kept = await deployments.artifacts(appId, RELEASES_KEPT)
  if (!kept.includes(artifact)) throw deployError('release_expired')
  return target
}
