import type { AppRecord } from '../../../../plugins/platform/contract/apps.ts'
import type { Call } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { insertApp, copyTree, dropKept } from '../new-app.ts'
import { appClone, appParams, appRecord, exampleApp } from '../schema.ts'
import { findLiveApp, findRevision, requireFreeAlias, requireAppQuota } from '../service.ts'
import { showApp } from '../show.ts'
import { applyInTurn } from '../../../trees/applying-queue.ts'

const input = { params: appParams, body: appClone }

export const cloneApp = operation({
  effect: 'write',
  id: 'apps.clone',
  summary: 'Clone an app: files and configuration, without knowledge files',
  method: 'POST',
  path: '/v1/apps/{app_id}/clone',
  access: { scope: 'apps:write', pinned: 'refused' },
  agent: { toolset: 'apps' },
  emits: ['apps'],
  input,
  output: appRecord,
  status: 201,
  errors: [
    'app_not_found',
    'app_archived',
    'app_not_ready',
    'revision_not_found',
    'alias_reserved',
    'alias_taken',
    'app_limit_reached',
    'key_pinned',
    'capability_unavailable',
  ],
  example: {
    params: { app_id: exampleApp.id },
    body: { name: 'Shop, second try' },
    response: {
      ...exampleApp,
      id: 'p8d2w5n6r9bc',
      app_id: 'p8d2w5n6r9bc',
      name: 'Shop, second try',
      alias: null,
      source: { kind: 'clone', template_id: 'landing', cloned_from: exampleApp.id },
      publish_state: 'never',
      current_deployment_id: null,
      preview_url: 'https://preview--x3c8v5b2n7m4q9w6k0d2hjpz.apps.example.net',
      production_url: 'https://p8d2w5n6r9bc.apps.example.net',
    },
  },
  command: 'app clone',
  async prepare(call) {
    const { platform, principal, params, body } = call
    const { apps } = platform.store
    const app = await findLiveApp(apps, principal, params.app_id)
    const revision = await findRevision(apps, app, body?.revision)
    // Checked before waiting; while it waits, another app may use up the quota or take the alias.
    await requireCloneAllowed(call, app)
    const kept = await applyInTurn(call, params.app_id, async (signal) => {
      await requireCloneAllowed(call, app)
      return copyTree(call, revision, signal)
    })
    return { app, kept }
  },
  async run(call) {
    const { app, kept } = call.prepared
    await findLiveApp(call.tx.apps, call.principal, app.id)
    const clone = await insertApp(call, kept, {
      name: call.body?.name ?? app.name,
      alias: call.body?.alias ?? null,
      metadata: app.metadata,
      source: { kind: 'clone', template_id: app.source.template_id, cloned_from: app.id },
    })
    return showApp(call.platform, call.tx.deployments, clone)
  },
  discard: ({ platform }, { kept }) => dropKept(platform, kept),
  onUnknownOutcome: ({ platform }, { kept }) => platform.workAvailable.bytes(kept.id),
})

/** Refuses a clone that cannot be recorded, before anything is copied; the unit of work checks again. */
async function requireCloneAllowed(
  { platform, body }: Pick<Call<typeof input>, 'platform' | 'body'>,
  { account_id }: AppRecord,
): Promise<void> {
  const { apps } = platform.store
  await requireAppQuota(apps, account_id)
  if (typeof body?.alias !== 'string') return
  const request = { account_id, app_id: '', now: platform.clock.now() }
  await requireFreeAlias(platform, apps, body.alias, request)
}
