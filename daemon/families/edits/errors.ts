import { defineErrors } from '../../../lib/errors.ts'

export const editError = defineErrors({
  edit_not_found: { status: 404, text: 'The app has no edit with this id.' },
  invalid_edit: {
    status: 400,
    text: 'Give a prompt, or operations with the base_revision that they apply to, not both.',
  },
  revision_conflict: {
    status: 409,
    text: 'The app has a newer revision. Read it, and base the edit on it.',
  },
  revert_conflict: {
    status: 409,
    text: 'A later edit changed the same files. Make another edit instead.',
  },
  edit_not_completed: {
    status: 409,
    text: 'The edit made no revision, so there is nothing to show or revert.',
  },
  edit_finished: { status: 409, text: 'The edit has ended already.' },
  edit_queue_full: {
    status: 409,
    text: 'The queue of edits of this app is full. Wait until one has ended, or cancel one.',
  },
})
