import type { Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { EditRecord } from '../../../../plugins/store/contract/edits.ts'
import type { StreamEvent } from '../../../family.ts'
import { streamOperation } from '../../../family.ts'
import type { Platform } from '../../../platform.ts'
import type { EditNews } from '../schema.ts'
import { editNews, editParams, exampleEdit, toWireLine, toWireState } from '../schema.ts'
import { findEdit, placeOf } from '../service.ts'
import { hasEnded } from '../wait.ts'

/** An edit may be carried out by another process, so it is looked at. */
const LOOK_EVERY: Millis = SECOND / 2
const LINES_AT_ONCE = 200

export const followEdit = streamOperation({
  id: 'edits.follow',
  summary: 'Follow an edit: each line of what it does, how far it is, and its end',
  method: 'GET',
  path: '/v1/apps/{app_id}/edits/{edit_id}/events',
  access: { scope: 'edits:read', pinned: 'allowed' },
  input: { params: editParams },
  output: editNews,
  errors: ['app_not_found', 'edit_not_found'],
  example: {
    params: { app_id: exampleEdit.app_id, edit_id: exampleEdit.id },
    response: {
      number: 1,
      at: exampleEdit.created_at,
      stage: 'asking',
      message: 'Asking the language model.',
    },
  },
  async run(call) {
    const edit = await findEdit(call.platform.store, call)
    const after = /^\d{1,9}$/.test(call.after) ? Number(call.after) : 0
    return follow(call.platform, edit, after)
  },
})

/**
 * `line` for each line after one, `status` whenever how far it is has changed, and `end`. Lines bear
 * their numbers as ids: a client that comes back misses none, and reads the status anew.
 */
async function* follow(
  { store, clock }: Platform,
  edit: EditRecord,
  after: number,
): AsyncGenerator<StreamEvent<EditNews>> {
  let seen = after
  let told = ''
  for (let known = edit; ;) {
    // Read after the record: what had ended by then has all its lines.
    for (let full = true; full;) {
      const lines = await store.edits.lines(known.id, seen, LINES_AT_ONCE)
      for (const line of lines) {
        yield { id: String(line.number), event: 'line', data: toWireLine(line) }
        seen = line.number
      }
      full = lines.length === LINES_AT_ONCE
    }
    const state = toWireState(known, await placeOf(store.edits, known))
    if (hasEnded(known)) {
      yield { event: 'end', data: state }
      return
    }
    if (JSON.stringify(state) !== told) yield { event: 'status', data: state }
    told = JSON.stringify(state)
    await new Promise<void>((resolve) => {
      clock.after(LOOK_EVERY, resolve)
    })
    const found = await store.edits.get(known.app_id, known.id)
    if (found === undefined) return
    known = found
  }
}
