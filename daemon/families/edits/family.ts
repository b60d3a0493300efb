import { defineFamily } from '../../operations/family.ts'
import { appsFamily } from '../apps/family.ts'
import { editError } from './errors.ts'
import { editEvents } from './events.ts'
import { cancelAll, enqueue, requireEditor } from './queue.ts'
import { cancelEdit } from './operations/cancel.ts'
import { compareApp } from './operations/compare.ts'
import { followEdit } from './operations/follow.ts'
import { createEdit } from './operations/create.ts'
import { diffEdit } from './operations/diff.ts'
import { getEdit } from './operations/get.ts'
import { getEditStatus } from './operations/get-status.ts'
import { listEditLines } from './operations/list-lines.ts'
import { listEdits } from './operations/list.ts'
import { restoreRevision } from './operations/restore.ts'
import { revertEdit } from './operations/revert.ts'
import { createEditHandler } from './run.ts'

/** Edits: changes to an app's files, all of them or none. */
export const editsFamily = defineFamily({
  name: 'edits',
  needs: [appsFamily],
  scopes: { edits: ['read', 'write'] },
  events: editEvents.types,
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
    diffEdit,
    compareApp,
    restoreRevision,
  ],
  jobs: [{ createHandler: createEditHandler }],
  extendsApps: {
    archiving: (change, { id }) => cancelAll(change, id),
    making: {
      require: requireEditor,
      async begin(change, app, { id, prompt, model }) {
        const wish = { prompt, model, message: null }
        await enqueue(change, app, wish, { operation: 'apps.create', id })
      },
    },
  },
})
