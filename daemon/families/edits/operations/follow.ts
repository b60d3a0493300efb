import type { EditRecord } from '../../../../plugins/platform/contract/edits.ts'
import type { JobLine } from '../../../../plugins/platform/contract/jobs.ts'
import { operation } from '../../../operations/operation.ts'
import { streamLines } from '../../line-stream.ts'
import type { EditStreamData } from '../schema.ts'
import { editStreamData, editParams, exampleEdit, toWireLine, toWireState } from '../schema.ts'
import { findEdit, hasEnded, positionOf } from '../service.ts'

export const followEdit = operation({
  effect: 'stream',
  id: 'edits.follow',
  summary: 'Follow an edit: log lines, progress and end, as server-sent events',
  method: 'GET',
  path: '/v1/apps/{app_id}/edits/{edit_id}/events',
  access: { scope: 'edits:read', pinned: 'allowed' },
  agent: { omit: 'Followed by the tools that begin the work, which report its progress.' },
  emits: ['edits'],
  input: { params: editParams },
  output: editStreamData,
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
    return streamLines<EditRecord, JobLine, EditStreamData>(
      platform,
      { holder: account_id, after, left },
      {
        look: () => edits.get(app_id, id),
        isOver: hasEnded,
        lines: (after, limit) => jobs.lines(id, after, limit),
        showLine: toWireLine,
        show: async (known) => toWireState(known, await positionOf(edits, known)),
      },
    )
  },
})
