import { z } from 'zod'
import { IDENTIFIERS, defineEvents } from '../../events/types.ts'
import { editRecord } from './schema.ts'

const APP = 'k3v9q2m7x4ta'
const EDIT = '01890a5d-ac96-774b-bcce-b302099a8057'

const { kind, initial } = editRecord.shape
const error = editRecord.shape.error.unwrap().omit({ retryable: true })

const edit = { app_id: z.string(), edit_id: z.string() }
const charged_micros = z.int()

/** Why an edit failed, as its event tells it. */
export type PublishedFailure = z.input<typeof error>

/** What edits tell of themselves. Each edit ends once, and exactly one of these tells of it. */
export const editEvents = defineEvents([
  {
    type: 'edit.completed',
    scope: IDENTIFIERS,
    description: 'An edit, including the initial generation of an app, is completed.',
    schema: z.strictObject({
      ...edit,
      kind,
      initial,
      result_revision: z.int(),
      charged_micros,
    }),
    sample: {
      app_id: APP,
      edit_id: EDIT,
      kind: 'prompt',
      initial: false,
      result_revision: 4,
      charged_micros: 0,
    },
  },
  {
    type: 'edit.failed',
    scope: IDENTIFIERS,
    description: 'An edit failed or was canceled; the app is unchanged.',
    schema: z.strictObject({ ...edit, error, charged_micros }),
    sample: {
      app_id: APP,
      edit_id: EDIT,
      error: {
        code: 'model_unavailable',
        class: 'transient',
        message: 'The language model did not answer, or broke off. Try again later.',
      },
      charged_micros: 0,
    },
  },
])
