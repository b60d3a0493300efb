import { defineFamily } from '../../operations/family.ts'
import { editError } from './errors.ts'
import { editEvents } from './events.ts'
import { cancelEdit } from './operations/cancel.ts'
import { followEdit } from './operations/follow.ts'
import { createEdit } from './operations/create.ts'
import { getEdit } from './operations/get.ts'
import { getEditStatus } from './operations/get-status.ts'
import { listEditLines } from './operations/list-lines.ts'
import { listEdits } from './operations/list.ts'
import { revertEdit } from './operations/revert.ts'

/** Edits: changes to an app's files, all of them or none. */
export const editsFamily = defineFamily({
  name: 'edits',
  scopes: { edits: ['read', 'write'] },
  events: editEvents,
  errors: editError,
  operations: [
    listEdits,
    createEdit,
    getEdit,
    getEditStatus,
    listEditLines,
    followEdit,
    cancelEdit,
    revertEdit,
  ],
})
