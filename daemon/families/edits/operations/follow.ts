import type { EditRecord } from '../../../../plugins/platform/contract/edits.ts'
import type { JobLine } from '../../../../plugins/platform/contract/jobs.ts'
import { operation } from '../../../operations/operation.ts'
import { followLines } from '../../line-stream.ts'
import type { EditNews } from '../schema.ts'
import { editNews, editParams, exampleEdit, toWireLine, toWireState } from '../schema.ts'
import { findEdit, hasEnded, placeOf } from '../service.ts'

export const followEdit = operation({
  effect: 'stream',
  id: 'edits.follow',
  summary: 'Follow an edit: log lines, progress and end, as server-sent events',
  method: 'GET',
  path: '/v1/apps/{app_id}/edits/{edit_id}/events',
  access: { scope: 'edits:read', pinned: 'allowed' },
  emits: ['edits'],
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
    const { platform, after, left } = call
    const { edits, jobs } = platform.store
    const { id, app_id, account_id } = await findEdit(platform.store, call)
    return followLines<EditRecord, JobLine, EditNews>(
      platform,
      { holder: account_id, after, left },
      {
        look: () => edits.get(app_id, id),
        isOver: hasEnded,
        lines: (after, limit) => jobs.lines(id, after, limit),
        showLine: toWireLine,
        show: async (known) => toWireState(known, await placeOf(edits, known)),
      },
    )
  },
})
