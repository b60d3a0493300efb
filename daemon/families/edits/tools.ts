import type { EditOperation, EditTools, OperationFault } from '../../../plugins/edits/contract.ts'
import type { EditRecord } from '../../../plugins/platform/contract/edits.ts'
import { EditError } from '../../../plugins/edits/contract.ts'
import type { Leased } from '../../jobs/handler.ts'
import { ClaimLost } from '../../jobs/handler.ts'
import { bytesOf, loadTree, readKept } from '../../trees/keep.ts'
import { findRevision } from '../apps/service.ts'
import { findPassages } from '../passages.ts'
import type { Platform } from '../../platform.ts'
import type { OperationRefusal } from '../../trees/apply.ts'
import { isStillAllowed } from '../../authority/admission.ts'
import { applyOperations, pathsOf } from '../../trees/apply.ts'
import type { Base } from './complete.ts'
import { KNOWLEDGE_SCOPE } from './queue.ts'
import { turnOfWorker } from '../../trees/applying-queue.ts'

/**
 * Takes the app's current revision as the base of a claimed edit, and opens the tools of its editor.
 *
 * @throws ClaimLost, and EditError `canceled` for a deleted or archived app
 */
export async function openTools(
  platform: Platform,
  leased: Leased<EditRecord>,
  listeners: Pick<EditTools, 'signal' | 'progress'>,
): Promise<{ readonly base: Base; readonly tools: EditTools }> {
  const { store } = platform
  const {
    job: { claim },
    subject: edit,
  } = leased
  const app = await store.apps.get(edit.account_id, edit.app_id)
  if (app === undefined || app.archived_at !== null) throw new EditError('canceled')
  const revision = await findRevision(store.apps, app, undefined)
  const what = { base_revision: revision.number }
  const isHeld = await store.write((tx) => tx.edits.found(edit.id, claim, what))
  if (!isHeld) throw new ClaimLost()

  const bytes = bytesOf(platform)
  const read = readKept(bytes, app.id)
  const tree = await loadTree(bytes, revision)
  const tools: EditTools = {
    ...listeners,
    async read(path) {
      const file = tree.files.get(path)
      return file && (await read(file.sha256))
    },
    async passages(query, limit) {
      if (!(await mayReadKnowledge(platform, leased))) return []
      const search = { app_id: app.id, query, limit, files: null }
      // The edit was accepted, so its turn is never refused; the workers limit how many there are.
      const turn = { holder: app.account_id, signal: listeners.signal, kept: true }
      const { passages } = await findPassages(platform, search, turn)
      return passages.map(({ file_id, name, page, text }) => ({ file_id, name, page, text }))
    },
    async check(operations) {
      const turn = turnOfWorker(edit, listeners.signal)
      const applied = await platform.queues.applying(turn, () =>
        applyOperations(tree, operations, read, listeners.signal),
      )
      return 'tree' in applied ? [] : applied.map((refusal) => toFault(refusal, operations))
    },
  }
  return { base: { number: revision.number, tree, bytes }, tools }
}

/**
 * Whether the model may see knowledge: only when the caller could read it at the request, and can now. If not,
 * the edit's record and log say so.
 */
async function mayReadKnowledge(
  platform: Platform,
  { job: { claim }, subject: edit }: Leased<EditRecord>,
): Promise<boolean> {
  const { store, clock } = platform
  const now = clock.now()
  const isAllowed =
    edit.knowledge !== 'withheld' &&
    (await isStillAllowed(platform, store, edit, [KNOWLEDGE_SCOPE], now))
  if (isAllowed) return true
  await store.write(async (tx) => {
    if (!(await tx.edits.found(edit.id, claim, { knowledge: 'withheld' }))) throw new ClaimLost()
    await tx.jobs.log(edit.id, [{ at: now, stage: 'reading', message: WITHHELD }])
  })
  return false
}

const WITHHELD = `Knowledge files were not used: the key that asked lacks ${KNOWLEDGE_SCOPE}.`

/** A fault of the resulting tree is reported for the last operation that names its path. */
function toFault(
  { index, code, path, message }: OperationRefusal,
  operations: readonly EditOperation[],
): OperationFault {
  const last = operations.findLastIndex((operation) => pathsOf(operation).includes(path))
  return { index: index ?? (last === -1 ? operations.length - 1 : last), code, message }
}
