import type { EditReads, EditRecord } from '../../../plugins/platform/contract/edits.ts'
import type { AppRecord } from '../../../plugins/platform/contract/apps.ts'
import type { Call } from '../../operations/call.ts'
import { accountOf } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { audit } from '../audit/note.ts'
import { findApp } from '../apps/service.ts'
import { editError } from './errors.ts'
import type { Waiting } from '../wait.ts'
import { waitUntil } from '../wait.ts'

type EditCall = Pick<Call, 'principal'> & {
  readonly params: { readonly app_id: string; readonly edit_id: string }
}

/** An edit of an app that the caller may see. */
export async function findEdit(
  { apps, edits }: { readonly apps: Parameters<typeof findApp>[0]; readonly edits: EditReads },
  { principal, params }: EditCall,
): Promise<EditRecord> {
  const app = await findApp(apps, principal, params.app_id)
  const edit = await edits.get(app.id, params.edit_id)
  if (edit === undefined) throw editError('edit_not_found')
  return edit
}

/** Positions of an app's queued edits, from 1. */
export async function positionsOf(
  edits: Pick<EditReads, 'waiting'>,
  appId: string,
): Promise<ReadonlyMap<string, number>> {
  const queued = (await edits.waiting(appId)).filter(({ status }) => status === 'queued')
  return new Map(queued.map(({ id }, index) => [id, index + 1]))
}

/** Position of an edit in its app's queue; null when it is not queued. */
export async function positionOf(
  edits: Pick<EditReads, 'waiting'>,
  { id, app_id, status }: EditRecord,
): Promise<number | null> {
  return status === 'queued' ? ((await positionsOf(edits, app_id)).get(id) ?? null) : null
}

/** Writes an audit row for a change of an edit. */
export async function noteEdit(
  call: Change,
  { id, app_id }: Pick<EditRecord, 'id' | 'app_id'>,
  action: 'edit.created' | 'edit.canceled',
): Promise<void> {
  const account_id = accountOf(call.principal)
  await audit(call, { account_id, action, target_type: 'edit', target_id: id, app_id })
}

/** @throws KeyhookError `revision_conflict` with the current revision */
export function requireCurrent({ revision }: AppRecord, base: number): void {
  if (revision === base) return
  throw editError('revision_conflict', { details: { current_revision: revision } })
}

export function hasEnded({ status }: Pick<EditRecord, 'status'>): boolean {
  return status !== 'queued' && status !== 'running'
}

/** The edit when it has ended, or at the end of the wait. */
export function waitForEnd(
  waiting: Waiting,
  edit: EditRecord,
  seconds: number,
): Promise<EditRecord> {
  const look = () => waiting.platform.store.edits.get(edit.app_id, edit.id)
  return waitUntil(waiting, seconds, edit, hasEnded, look)
}
