import { z } from 'zod'
import type { WriteCall } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { appError } from '../../apps/errors.ts'
import { appParams, revisionNumber } from '../../apps/schema.ts'
import { findLiveApp, findRevision } from '../../apps/service.ts'
import { wait } from '../../wire.ts'
import {
  RELEASE,
  deploymentAnswer,
  dryRun,
  exampleDeployment,
  exampleQueued,
  message,
  pathOfDeployment,
  retireEarlier,
} from '../schema.ts'
import { deployError } from '../errors.ts'
import type { WireAnswer } from '../schema.ts'
import {
  enqueue,
  requestedDeployment,
  planOf,
  requireDeployer,
  requireIdle,
  revisionOf,
} from '../service.ts'
import { requireNoSignIn } from '../../sign-in.ts'
import { answerWith, isAccepted } from '../show.ts'
import { answerLater } from '../wait.ts'

const input = {
  params: appParams,
  query: z.strictObject({ wait }),
  body: z
    .strictObject({
      revision: revisionNumber.optional().meta({ description: 'Default: the current revision.' }),
      message: message.optional(),
      retire_earlier: retireEarlier,
      dry_run: dryRun,
    })
    .optional(),
}

export const publishApp = operation({
  effect: 'write',
  id: 'deploy.publish',
  summary: 'Publish an app: its address serves a revision once its release is built',
  method: 'POST',
  path: '/v1/apps/{app_id}/deploy/publish',
  access: { scope: 'deploy:write', pinned: 'allowed' },
  agent: {
    toolset: 'deploy',
    default: true,
    openWorld: true,
    skill: {
      name: 'Publish an app',
      tags: ['app', 'publish', 'deploy'],
      examples: ['Publish the shop.'],
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
    'app_not_ready',
    'revision_not_found',
    'edit_in_progress',
    'deploy_in_progress',
    'capability_unavailable',
  ],
  example: {
    params: { app_id: exampleDeployment.app_id },
    body: { message: 'Opening hours' },
    response: { ...exampleDeployment, no_change: true, dry_run: false },
    accepted: { ...exampleQueued, no_change: false, dry_run: false },
  },
  command: 'deploy publish',
  run: publish,
  afterCommit: answerLater,
})

async function publish(call: WriteCall<typeof input>): Promise<WireAnswer> {
  const { platform, principal, tx, params, body = {} } = call
  const app = await findLiveApp(tx.apps, principal, params.app_id)
  requireDeployer(platform)
  await requireNoSignIn(tx.signIn, app.id)
  if (app.status !== 'ready') throw appError('app_not_ready')
  const revision = await findRevision(tx.apps, app, body.revision)
  if (body.revision === undefined) {
    const [edit] = await tx.edits.waiting(app.id)
    if (edit !== undefined) throw deployError('edit_in_progress', { details: { edit_id: edit.id } })
  }
  await requireIdle(tx.deployments, app.id)
  const live = await tx.deployments.live(app.id)
  const { dry_run = false, retire_earlier = false } = body
  if (live?.revision === revision.number && (live.retire_earlier || !retire_earlier)) {
    return answerWith(platform, tx.deployments, app, live, { no_change: true, dry_run })
  }
  const given = { kind: 'publish', message: body.message ?? null, retire_earlier } as const
  const deployment = requestedDeployment(call, app, { ...given, ...revisionOf(revision) })
  if (dry_run) return planOf(deployment)
  return answerWith(platform, tx.deployments, app, await enqueue(call, deployment))
}
