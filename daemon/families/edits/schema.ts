import { z } from 'zod'
import { toIso } from '../../../lib/time.ts'
import { oneOfForms } from '../../operations/faults.ts'
import type { EditRecord } from '../../../plugins/platform/contract/edits.ts'
import type { JobLine } from '../../../plugins/platform/contract/jobs.ts'
import { EDIT_KNOWLEDGE, EDIT_STATUSES } from '../../../plugins/platform/contract/edits.ts'
import { exampleApp, revisionNumber } from '../apps/schema.ts'
import { creator, instant, isoOrNull, model, pageOf, plainText, prompt, text } from '../wire.ts'
import { operations } from './operation-schema.ts'

export const editParams = z.strictObject({ app_id: plainText, edit_id: plainText })

/** The message of the revision that an edit creates. */
export const message = text(500).meta({
  description: 'Message, shown with the resulting revision.',
})

export const editCreation = z
  .strictObject({
    prompt: prompt.optional(),
    model: model.optional(),
    operations: operations.optional(),
    base_revision: revisionNumber
      .optional()
      .meta({ description: 'Revision that the operations apply to; must be the current one.' }),
    message: message.optional(),
  })
  .meta(
    oneOfForms(
      { required: ['prompt'], without: ['operations', 'base_revision'] },
      { required: ['operations', 'base_revision'], without: ['prompt', 'model'] },
    ),
  )

const failure = z
  .strictObject({
    code: z.string(),
    class: z.string().meta({
      description: 'Cause, which says who can fix it: transient, request, policy or internal.',
    }),
    message: z.string(),
    retryable: z.boolean(),
  })
  .nullable()

const status = z.enum(EDIT_STATUSES)

const queuePosition = z
  .int()
  .nullable()
  .meta({ description: 'Position in the queue, from 1; null unless queued.' })

export const editRecord = z
  .strictObject({
    id: z.string(),
    edit_id: z.string().meta({ description: 'Same as id.' }),
    app_id: z.string(),
    kind: z.enum(['prompt', 'structured']),
    initial: z.boolean().meta({ description: 'Whether it generates the app.' }),
    status,
    prompt: z.string().nullable(),
    model: z
      .string()
      .nullable()
      .meta({ description: 'Requested model, then the one that answered.' }),
    knowledge: z.enum(EDIT_KNOWLEDGE).nullable().meta({
      description:
        'Whether the model gets passages of knowledge files: allowed, or withheld without files:read. Null for operations.',
    }),
    message: z.string().nullable(),
    reverts: z.string().nullable().meta({ description: 'Edit that this one reverts.' }),
    base_revision: z.int().nullable(),
    result_revision: z.int().nullable(),
    summary: z.string().nullable().meta({ description: 'Summary by the model.' }),
    changed_files: z.array(
      z.strictObject({ path: z.string(), change: z.enum(['added', 'changed', 'removed']) }),
    ),
    usage: z
      .strictObject({
        input_tokens: z.int(),
        output_tokens: z.int(),
        cached_tokens: z.int(),
        estimated: z.boolean(),
      })
      .nullable(),
    error: failure,
    queue_position: queuePosition,
    created_by: creator,
    created_at: instant,
    started_at: instant.nullable(),
    finished_at: instant.nullable(),
  })
  .meta({ id: 'Edit' })

export const editPage = pageOf(editRecord)

/** @param position in the queue; null for an edit that is not queued */
export function toWireEdit(edit: EditRecord, position: number | null): z.input<typeof editRecord> {
  return {
    id: edit.id,
    edit_id: edit.id,
    app_id: edit.app_id,
    kind: edit.kind,
    initial: edit.initial,
    status: edit.status,
    prompt: edit.prompt,
    model: edit.model,
    knowledge: edit.knowledge,
    message: edit.message,
    reverts: edit.reverts,
    base_revision: edit.base_revision,
    result_revision: edit.result_revision,
    summary: edit.summary,
    changed_files: edit.changed.map((file) => ({ ...file })),
    usage: edit.usage && { ...edit.usage },
    error: edit.error && { ...edit.error },
    queue_position: position,
    created_by: { ...edit.created_by },
    created_at: toIso(edit.created_at),
    started_at: isoOrNull(edit.started_at),
    finished_at: isoOrNull(edit.finished_at),
  }
}

/** Path of an edit. */
export function pathOfEdit({ app_id, id }: Pick<EditRecord, 'app_id' | 'id'>): string {
  return `/v1/apps/${app_id}/edits/${id}`
}

export const editState = z
  .strictObject({
    id: z.string(),
    edit_id: z.string(),
    app_id: z.string(),
    status,
    stage: z.string().nullable().meta({ description: 'Current stage; null unless running.' }),
    progress: z.strictObject({ done: z.int(), total: z.int().nullable() }),
    queue_position: queuePosition,
    result_revision: z.int().nullable(),
    error: failure,
  })
  .meta({ id: 'EditState' })

export function toWireState(edit: EditRecord, position: number | null): z.input<typeof editState> {
  return {
    id: edit.id,
    edit_id: edit.id,
    app_id: edit.app_id,
    status: edit.status,
    stage: edit.stage,
    progress: { done: edit.done, total: edit.total },
    queue_position: position,
    result_revision: edit.result_revision,
    error: edit.error && { ...edit.error },
  }
}

const line = z
  .strictObject({
    number: z.int(),
    at: instant,
    stage: z.string().nullable(),
    message: z.string(),
  })
  .meta({ id: 'EditLine' })

export const linePage = pageOf(line)

/** Events of the stream of an edit. */
export const editStreamData = z.union([line, editState])
export type EditStreamData = z.input<typeof editStreamData>

export function toWireLine({ number, at, stage, message }: JobLine): z.input<typeof line> {
  return { number, at: toIso(at), stage, message }
}

/** Edit of the examples. */
export const exampleEdit = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  edit_id: '01890a5d-ac96-774b-bcce-b302099a8057',
  app_id: exampleApp.id,
  kind: 'structured',
  initial: false,
  status: 'completed',
  prompt: null,
  model: null,
  knowledge: null,
  message: 'A new headline',
  reverts: null,
  base_revision: 1,
  result_revision: 2,
  summary: null,
  changed_files: [{ path: 'headline.txt', change: 'added' }],
  usage: null,
  error: null,
  queue_position: null,
  created_by: exampleApp.created_by,
  created_at: '2026-01-31T12:00:00.000Z',
  started_at: '2026-01-31T12:00:00.000Z',
  finished_at: '2026-01-31T12:00:00.000Z',
} as const

export const examplePrompt = {
  ...exampleEdit,
  kind: 'prompt',
  status: 'queued',
  prompt: 'Add a page that says when we are open.',
  knowledge: 'allowed',
  message: null,
  base_revision: null,
  result_revision: null,
  changed_files: [],
  queue_position: 1,
  started_at: null,
  finished_at: null,
} as const
