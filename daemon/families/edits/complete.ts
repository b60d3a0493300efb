import type { AppBytes } from '../../../plugins/apps/contract.ts'
import type { Tree } from '../../trees/tree.ts'
import type { EditOutcome } from '../../../plugins/edits/contract.ts'
import { EditError } from '../../../plugins/edits/contract.ts'
import type { PlatformTx } from '../../../plugins/platform/contract.ts'
import type { EditRecord } from '../../../plugins/platform/contract/edits.ts'
import type { Leased } from '../../jobs/handler.ts'
import { ClaimLost } from '../../jobs/handler.ts'
import { findRevision } from '../apps/service.ts'
import { keepMade, loadTree, readKept } from '../../trees/keep.ts'
import { turnOfWorker } from '../../trees/applying-queue.ts'
import type { Platform } from '../../platform.ts'
import type { AppliedEdit } from '../../trees/apply.ts'
import { applyOperations, pathsOf } from '../../trees/apply.ts'
import { cleanCount, cleanText } from '../../jobs/heartbeat.ts'
import type { Ended } from './end.ts'
import { endClaimed } from './end.ts'
import { repeatChanges } from '../../trees/repeat.ts'
import type { KeptTree } from '../../trees/keep.ts'

/** The revision that an edit applies to. */
export interface Base {
  readonly number: number
  readonly tree: Tree
  readonly bytes: AppBytes
}

/** Files of the edit were changed since its base. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError'
}

/** Maximum retries when another revision is created while bytes are stored. */
const MAX_TRIES = 5
const MAX_SUMMARY = 200
const MAX_MODEL = 100

/**
 * Creates the revision of an editor's operations and ends the edit, in one unit of work.
 *
 * When the app has a newer revision than the base, the changes are applied to that, unless it changed files of
 * the edit.
 *
 * @param signal aborts when the edit must not be completed any more
 * @throws ClaimLost, ConflictError, and EditError for operations that do not apply, or a deleted app
 */
export async function completeClaimed(
  platform: Platform,
  leased: Leased<EditRecord>,
  base: Base,
  outcome: EditOutcome,
  signal: AbortSignal,
): Promise<void> {
  const turn = turnOfWorker(leased.subject, signal)
  await platform.queues.applying(turn, () => complete(platform, leased, base, outcome, signal))
}

async function complete(
  platform: Platform,
  leased: Leased<EditRecord>,
  base: Base,
  outcome: EditOutcome,
  signal: AbortSignal,
): Promise<void> {
  const { store } = platform
  const { account_id, app_id } = leased.subject
  const read = readKept(base.bytes, app_id)
  const applied = await applyOperations(base.tree, outcome.operations, read, signal)
  if (!('tree' in applied)) throw new EditError('patch_not_applied')
  const touched = outcome.operations.flatMap(pathsOf)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const app = await store.apps.get(account_id, app_id)
    if (app === undefined || app.archived_at !== null) throw new EditError('canceled')
    const revision = await findRevision(store.apps, app, undefined)
    const { number } = revision
    const tree =
      number === base.number
        ? applied.tree
        : await repeatOn(await loadTree(base.bytes, revision), base, applied, touched, signal)
    const kept = await keepMade(base.bytes, app_id, { tree, fresh: applied.fresh })
    const made = { number: number + 1, kept, applied, outcome }
    if (await store.write((tx) => advance(platform, tx, leased, made))) return
  }
  throw new ConflictError('the app moves on faster than the edit is applied')
}

async function repeatOn(
  current: Tree,
  base: Base,
  applied: AppliedEdit,
  touched: readonly string[],
  signal: AbortSignal,
): Promise<Tree> {
  const digestIn = ({ files }: Tree, path: string) => files.get(path)?.sha256
  // Including files that the edit would leave unchanged: the model has seen them.
  const isStale = touched.some((path) => digestIn(base.tree, path) !== digestIn(current, path))
  const repeated = await repeatChanges({ from: base.tree, to: applied.tree }, current, signal)
  if (!isStale && 'tree' in repeated) return repeated.tree
  throw new ConflictError('what the edit changes was changed meanwhile')
}

/** False, changing nothing, when the app has another revision by now. */
async function advance(
  platform: Platform,
  tx: PlatformTx,
  leased: Leased<EditRecord>,
  made: {
    readonly number: number
    readonly kept: KeptTree
    readonly applied: AppliedEdit
    readonly outcome: EditOutcome
  },
): Promise<boolean> {
  const { number, kept, applied, outcome } = made
  const {
    job: { claim },
    subject: edit,
  } = leased
  const { id, app_id, created_by } = edit
  if ((await tx.jobs.hold(id, claim)) === 'cancel') throw new EditError('canceled')
  const now = platform.clock.now()
  const summary = cleanText(outcome.summary, MAX_SUMMARY) || null
  const message = edit.message ?? summary
  const revision = { app_id, number, ...kept, message, edit_id: id, created_by, created_at: now }
  if (!(await tx.apps.advance(revision, number - 1))) return false

  const { input_tokens, output_tokens, cached_tokens, estimated } = outcome.usage
  const end: Ended = {
    status: 'completed',
    finished_at: now,
    result_revision: number,
    summary,
    changed: applied.changed,
    usage: {
      input_tokens: cleanCount(input_tokens),
      output_tokens: cleanCount(output_tokens),
      cached_tokens: cleanCount(cached_tokens),
      estimated,
    },
    error: null,
  }
  const model = cleanText(outcome.model, MAX_MODEL)
  if (model !== '') await tx.edits.found(id, claim, { model })
  if (!(await endClaimed(platform, tx, leased, end))) throw new ClaimLost()
  await tx.jobs.log(id, [{ at: now, stage: null, message: `Revision ${number} is made.` }])
  return true
}
