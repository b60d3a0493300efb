import { z } from 'zod'
import type { Call, WriteCall } from '../../../operations/call.ts'
import type { SkillArtifact } from '../../../operations/agent.ts'
import { operation } from '../../../operations/operation.ts'
import { dryRun } from '../../../billing/dry-run.ts'
import { bytesOf, loadTree, keepMade, readKept } from '../../../trees/keep.ts'
import { findLiveApp, findRevision } from '../../apps/service.ts'
import { appParams, PREVIEW } from '../../apps/schema.ts'
import { wait } from '../../wire.ts'
import { applyOperations } from '../../../trees/apply.ts'
import { editError } from '../errors.ts'
import { FILES_BODY_LIMIT } from '../../apps/given-file.ts'
import { toOperation } from '../operation-schema.ts'
import { enqueue, requireEditor } from '../queue.ts'
import { toRefusal } from '../../../trees/errors.ts'
import {
  editCreation,
  editRecord,
  exampleEdit,
  examplePrompt,
  pathOfEdit,
  toWireEdit,
} from '../schema.ts'
import { hasEnded, positionOf, requireCurrent, waitForEnd } from '../service.ts'
import type { MadeTree } from '../structured.ts'
import { completeAtOnce, requireMade } from '../structured.ts'
import { applyInTurn } from '../../../trees/applying-queue.ts'

/** What an edit changed, once it is completed. */
const DIFF: SkillArtifact = {
  name: 'diff',
  operation: 'edits.diff',
  ask: ({ app_id, id }) => ({ app_id: String(app_id), edit_id: String(id) }),
  as: 'text',
  mediaType: 'text/x-diff',
  filename: 'changes.diff',
  show: ({ diff }) => (typeof diff === 'string' && diff !== '' ? diff : undefined),
}

const input = {
  params: appParams,
  query: z.strictObject({ wait }),
  body: editCreation,
}

export const createEdit = operation({
  effect: 'write',
  id: 'edits.create',
  summary: 'Change an app by operations at once, or by a queued prompt',
  method: 'POST',
  path: '/v1/apps/{app_id}/edits',
  access: { scope: 'edits:write', pinned: 'allowed' },
  agent: {
    toolset: 'edits',
    default: true,
    openWorld: true,
    skill: {
      name: 'Change an app',
      tags: ['app', 'edit', 'code'],
      examples: ['Make the headline of the shop green.', 'Add an imprint to every page.'],
      text: 'prompt',
      artifacts: [DIFF, PREVIEW],
    },
  },
  emits: ['edits'],
  input,
  output: editRecord,
  status: 201,
  accepted: (edit) => !hasEnded(edit),
  watch: pathOfEdit,
  errors: [
    'app_not_found',
    'app_archived',
    'app_not_ready',
    'invalid_edit',
    'model_not_allowed',
    'path_not_allowed',
    'patch_not_applied',
    'config_not_allowed',
    'app_too_large',
    'revision_conflict',
    'edit_queue_full',
    'insufficient_balance',
    'model_not_configured',
    'capability_unavailable',
  ],
  example: {
    params: { app_id: exampleEdit.app_id },
    body: {
      operations: [{ op: 'write', path: 'headline.txt', content: 'Open every day' }],
      base_revision: 1,
      message: 'A new headline',
    },
    response: exampleEdit,
    accepted: examplePrompt,
  },
  quote: dryRun<typeof input>(async (call) => {
    const { platform, principal, params, body } = call
    const app = await findLiveApp(platform.store.apps, principal, params.app_id)
    const priced = { operation: 'edits.create', app_id: app.id }
    if (requirePrompt(body)) {
      requireEditor(platform, body.model)
      return { ...priced, quantities: [1] }
    }
    await applyInTurn(call, app.id, (signal) => applyToBase(call, signal))
    return { ...priced, quantities: [] }
  }),
  command: 'edit create',
  bodyLimit: FILES_BODY_LIMIT,
  async prepare(call) {
    if (requirePrompt(call.body)) {
      await findLiveApp(call.platform.store.apps, call.principal, call.params.app_id)
      requireEditor(call.platform, call.body.model)
      return undefined
    }
    // An early refusal: while the work is queued, another edit may be applied first.
    await findBase(call)
    return applyInTurn(call, call.params.app_id, async (signal) => {
      const { base, applied } = await applyToBase(call, signal)
      const kept = await keepMade(bytesOf(call.platform), call.params.app_id, applied)
      return { base, kept, changed: applied.changed }
    })
  },
  async run(call) {
    return toWireEdit(...(await insertEdit(call, call.prepared)))
  },
  async afterCommit(call, committed) {
    const { platform, query, params } = call
    if (hasEnded(committed) || (query.wait ?? 0) === 0) return committed
    const { edits } = platform.store
    const edit = await edits.get(params.app_id, committed.id)
    if (edit === undefined) return committed
    const known = await waitForEnd(call, edit, query.wait ?? 0)
    return toWireEdit(known, await positionOf(edits, known))
  },
})

/**
 * Whether the body has a prompt. Otherwise it has operations with their base revision.
 *
 * @throws KeyhookError `invalid_edit` for both, for neither, and for incomplete operations
 */
function requirePrompt({ prompt, operations, base_revision, model }: z.output<typeof input.body>) {
  const isPrompt = prompt !== undefined
  const hasOperations = operations !== undefined && base_revision !== undefined
  const hasPart = operations !== undefined || base_revision !== undefined
  if (isPrompt ? hasPart : !hasOperations || model !== undefined) throw editError('invalid_edit')
  return isPrompt
}

/** The app, the operations, and the revision that they apply to, which must be the app's current one. */
async function findBase({ platform, principal, params, body }: Call<typeof input>) {
  const { operations, base_revision: base } = body
  if (operations === undefined || base === undefined) throw editError('invalid_edit')
  const app = await findLiveApp(platform.store.apps, principal, params.app_id)
  requireMade(app)
  requireCurrent(app, base)
  return { app, operations, base }
}

/** Applies the operations to their revision; stores nothing. */
async function applyToBase(call: Call<typeof input>, signal: AbortSignal) {
  const { platform } = call
  const { app, operations, base } = await findBase(call)
  const bytes = bytesOf(platform)
  const tree = await loadTree(bytes, await findRevision(platform.store.apps, app, base))
  const given = operations.map(toOperation)
  const applied = await applyOperations(tree, given, readKept(bytes, app.id), signal)
  if (!('tree' in applied)) throw toRefusal(applied, 'body.operations')
  return { base, applied }
}

async function insertEdit(
  call: WriteCall<typeof input, MadeTree | undefined>,
  made: MadeTree | undefined,
): Promise<Parameters<typeof toWireEdit>> {
  const { tx, principal, params, body } = call
  const message = body.message ?? null
  if (made !== undefined) {
    return [await completeAtOnce(call, params.app_id, made, { message, reverts: null }), null]
  }
  const app = await findLiveApp(tx.apps, principal, params.app_id)
  const request = { prompt: body.prompt ?? '', model: body.model ?? null, message }
  const edit = await enqueue(call, app, request)
  return [edit, await positionOf(tx.edits, edit)]
}
