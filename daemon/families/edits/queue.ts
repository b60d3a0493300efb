import { allows, requiredScope } from '../../../lib/scope/cover.ts'
import type { AppRecord } from '../../../plugins/platform/contract/apps.ts'
import type { EditRecord } from '../../../plugins/platform/contract/edits.ts'
import type { Platform } from '../../platform.ts'
import { creatorOf } from '../../authority/principal.ts'
import { payerOf } from '../../billing/billing.ts'
import { appError } from '../apps/errors.ts'
import type { Change } from '../audit/note.ts'
import { endQueued, endWithout } from './end.ts'
import { editError } from './errors.ts'
import { FAILURES } from './failures.ts'
import { noteEdit } from './service.ts'

/** Maximum queued edits of one app. */
const MAX_QUEUED = 10

/** An edit by prompt, as requested. */
export interface PromptRequest {
  readonly prompt: string
  readonly model: string | null
  readonly message: string | null
}

/**
 * Checks that prompts are served, with the model that the caller names.
 *
 * @param model undefined for the default
 * @throws KeyhookError `model_not_configured`, `model_not_allowed`
 */
export function requireEditor(
  { plugins: { editor }, models }: Pick<Platform, 'plugins' | 'models'>,
  model: string | undefined,
): void {
  if (!editor.available) throw appError('model_not_configured')
  if (model === undefined || models.includes(model)) return
  const allowed = models.length === 0 ? 'Leave model out.' : `Allowed: ${models.join(', ')}.`
  throw appError('model_not_allowed', {
    message: `The operator does not allow this model. ${allowed}`,
    details: { allowed_models: models },
  })
}

/** Operation that is charged for a prompt, and the id of its edit. */
export interface ChargedAs {
  readonly operation: 'apps.create' | 'edits.create'
  readonly id: string
}

/**
 * Enqueues a prompt and holds its price. A prompt for an app whose creation failed creates it again.
 *
 * @throws KeyhookError `insufficient_balance`, `edit_queue_full`
 */
export async function enqueue(
  call: Change,
  app: AppRecord,
  request: PromptRequest,
  { operation, id }: ChargedAs = { operation: 'edits.create', id: call.platform.newId() },
): Promise<EditRecord> {
  const { platform, tx, now } = call
  const waiting = await tx.edits.waiting(app.id)
  if (waiting.filter(({ status }) => status === 'queued').length >= MAX_QUEUED) {
    throw editError('edit_queue_full', { details: { limit: MAX_QUEUED } })
  }
  const isNew = app.status === 'creating' && waiting.length === 0
  const initial = isNew || (await tx.apps.move(app.id, 'failed', 'creating', now))
  const knowledge = mayReadKnowledge(call) ? 'allowed' : 'withheld'
  const edit = newEdit(call, app, {
    ...request,
    id,
    kind: 'prompt',
    initial,
    status: 'queued',
    knowledge,
  })
  const works = [{ operation_id: id, quantity: 1 }]
  const payer = payerOf(call.principal)
  const { account_id, id: app_id } = app
  await platform.billing.hold(tx, { account_id, operation, app_id, ...payer, works, now })
  await tx.edits.insert(edit)
  await noteEdit(call, edit, 'edit.created')
  tx.afterCommit(() => {
    platform.workAvailable.jobs('edit')
  })
  return edit
}

/** The scope that the model's view of knowledge files needs: a prompt must not read more than its caller. */
export const KNOWLEDGE_SCOPE = 'files:read'

function mayReadKnowledge({ platform, principal }: Change): boolean {
  return allows(principal.authority.scopes, requiredScope(KNOWLEDGE_SCOPE, platform.universe))
}

/** A new edit that was not started. */
export function newEdit(
  { principal, now }: Change,
  { id: app_id, account_id }: AppRecord,
  given: Partial<EditRecord> & Pick<EditRecord, 'id' | 'kind' | 'status'>,
): EditRecord {
  return {
    app_id,
    account_id,
    initial: false,
    prompt: null,
    model: null,
    knowledge: null,
    message: null,
    reverts: null,
    base_revision: null,
    result_revision: null,
    summary: null,
    changed: [],
    usage: null,
    error: null,
    stage: null,
    done: 0,
    total: null,
    created_by: creatorOf(principal),
    created_at: now,
    started_at: null,
    finished_at: null,
    ...given,
  }
}

/**
 * Cancels the edits of an app that is about to be archived: queued ones end, a running one is requested to stop.
 * If the app was being created, its creation has failed.
 */
export async function cancelAll(
  { platform, tx, now }: Pick<Change, 'platform' | 'tx' | 'now'>,
  appId: string,
): Promise<void> {
  for (const edit of await tx.edits.waiting(appId)) {
    const end = endWithout('canceled', FAILURES.canceled, now)
    if (!(await endQueued(platform, tx, edit, end))) await tx.jobs.cancel(edit.id, now)
  }
  await tx.apps.move(appId, 'creating', 'failed', now)
  tx.afterCommit(() => {
    platform.workAvailable.jobs('edit')
  })
}
