import type { SkillArtifact, WireRecord } from '../../operations/agent.ts'
import { z } from 'zod'
import { toIso } from '../../../lib/time.ts'
import type { AppRecord, RevisionRecord } from '../../../plugins/platform/contract/apps.ts'
import { fault, oneOfForms } from '../../operations/faults.ts'
import { fileContent, hasOneContent, ONE_CONTENT } from './given-file.ts'
import {
  anyText,
  changesOf,
  creator,
  exactlyOne,
  instant,
  isoOrNull,
  model,
  namesOf,
  pageOf,
  plainText,
  prompt,
  text,
} from '../wire.ts'
import { APP_ID, isLikeAppId } from './id.ts'

export const appParams = z.strictObject({ app_id: plainText })

export const alias = z
  .string()
  .regex(
    /^[a-z0-9](-?[a-z0-9]){2,62}$/,
    'An alias is 3 to 63 lower-case letters, digits and single hyphens between them.',
  )
  .refine(
    (value) => !isLikeAppId(value),
    fault('invalid_format', 'This alias could be the id of an app.'),
  )
  .meta({
    description: 'Alias: unique name that begins the address.',
    not: { pattern: APP_ID.source },
  })

const metadata = namesOf(
  z.string().regex(/^[A-Za-z0-9_.-]{1,40}$/, 'A key is 1 to 40 letters, digits, _, . or -.'),
  anyText(500),
  50,
).meta({ description: 'Your own strings, returned unchanged.', example: { stage: 'trial' } })

/** Either a template, or a prompt with its own fields. */
const FROM_TEMPLATE_OR_PROMPT = oneOfForms(
  { required: ['template_id'], without: ['prompt', 'files', 'model'] },
  { required: ['prompt'], without: ['template_id'] },
)

export const appCreation = z
  .strictObject({
    template_id: anyText(100).min(1).optional().meta({
      description: 'Template, from GET /v1/templates; exclusive with prompt.',
      example: 'landing',
    }),
    prompt: prompt.optional().meta({ description: 'Prompt: the app to create.' }),
    files: z
      .array(
        z
          .strictObject(fileContent)
          .refine(hasOneContent, ONE_CONTENT)
          .meta(exactlyOne('content', 'content_base64')),
      )
      .min(1)
      .max(500)
      .optional()
      .meta({ description: 'Files that the prompt starts from. Default: the blank template.' }),
    model: model.optional(),
    name: text(100)
      .optional()
      .meta({ description: "Name. Default: the template's name, or the beginning of the prompt." }),
    alias: alias.optional(),
    metadata: metadata.optional(),
  })
  .meta(FROM_TEMPLATE_OR_PROMPT)

export const appChanges = changesOf({
  name: text(100).optional(),
  alias: alias.nullable().optional(),
  metadata: metadata.optional(),
})

export const revisionNumber = z.int().min(1).max(2_000_000_000)

export const appClone = z
  .strictObject({
    name: text(100).optional().meta({ description: 'Name. Default: that of the app.' }),
    alias: alias.optional(),
    revision: revisionNumber.optional().meta({ description: 'Default: the current revision.' }),
  })
  .optional()

export const publishState = z
  .enum(['never', 'unpublished', 'publishing', 'published', 'suspended'])
  .meta({ description: 'Whether its address serves a release.' })

export const appRecord = z
  .strictObject({
    id: z.string(),
    app_id: z.string().meta({ description: 'Same as id.' }),
    name: z.string(),
    alias: z.string().nullable(),
    status: z.enum(['creating', 'ready', 'failed', 'archived']),
    source: z.strictObject({
      kind: z.enum(['template', 'prompt', 'prompt_files', 'clone']),
      template_id: z.string().nullable(),
      cloned_from: z.string().nullable(),
    }),
    current_revision: z.int().nullable(),
    publish_state: publishState,
    current_deployment_id: z
      .string()
      .nullable()
      .meta({ description: 'Live deployment; null when none is.' }),
    preview_url: z.string().nullable().meta({
      description: 'Address of the preview of the current revision; secret.',
    }),
    production_url: z.string().nullable().meta({
      description: 'Address of the published app; null where apps are not served.',
    }),
    metadata: z.record(z.string(), z.string()),
    created_by: creator,
    created_at: instant,
    updated_at: instant,
    archived_at: instant.nullable(),
    purge_at: instant.nullable().meta({
      description: 'Time when an archived app is deleted; restorable until then.',
    }),
  })
  .meta({ id: 'App' })

export const appPage = pageOf(appRecord)

export const createdApp = appRecord
  .extend({
    edit_id: z.string().optional().meta({ description: 'Edit that generates it, from a prompt.' }),
  })
  .meta({ id: 'CreatedApp' })

/** Publication state and addresses of an app. */
export type AppOnline = Pick<
  z.input<typeof appRecord>,
  'publish_state' | 'current_deployment_id' | 'preview_url' | 'production_url'
>

export function toWireApp(app: AppRecord, online: AppOnline): z.input<typeof appRecord> {
  return {
    id: app.id,
    app_id: app.id,
    name: app.name,
    alias: app.alias,
    status: app.archived_at === null ? app.status : 'archived',
    source: { ...app.source },
    current_revision: app.revision,
    ...online,
    metadata: { ...app.metadata },
    created_by: { ...app.created_by },
    created_at: toIso(app.created_at),
    updated_at: toIso(app.updated_at),
    archived_at: isoOrNull(app.archived_at),
    purge_at: isoOrNull(app.purge_at),
  }
}

export const revisionRecord = z
  .strictObject({
    app_id: z.string(),
    revision: z.int(),
    files: z.int(),
    bytes: z.int(),
    message: z.string().nullable(),
    edit_id: z.string().nullable(),
    created_by: creator,
    created_at: instant,
  })
  .meta({ id: 'Revision' })

export const revisionPage = pageOf(revisionRecord)

export function toWireRevision(one: RevisionRecord): z.input<typeof revisionRecord> {
  return {
    app_id: one.app_id,
    revision: one.number,
    files: one.files,
    bytes: one.bytes,
    message: one.message,
    edit_id: one.edit_id,
    created_by: { ...one.created_by },
    created_at: toIso(one.created_at),
  }
}

/** Shared by examples. */
export const exampleApp = {
  id: 'k3v9q2m7x4ta',
  app_id: 'k3v9q2m7x4ta',
  name: 'Shop',
  alias: 'shop',
  status: 'ready',
  source: { kind: 'template', template_id: 'landing', cloned_from: null },
  current_revision: 1,
  publish_state: 'published',
  current_deployment_id: '01890a5d-ac96-774b-bcce-b302099a8059',
  preview_url: 'https://preview--q7v2m9x4t8k3c5w6n0d2hjpz.apps.example.net',
  production_url: 'https://shop.apps.example.net',
  metadata: {},
  created_by: { type: 'user', id: '01890a5d-ac96-774b-bcce-b302099a8000' },
  created_at: '2026-01-30T12:00:00.000Z',
  updated_at: '2026-01-30T12:00:00.000Z',
  archived_at: null,
  purge_at: null,
} as const

export const exampleRevision = {
  app_id: exampleApp.id,
  revision: 1,
  files: 4,
  bytes: 18_220,
  message: null,
  edit_id: null,
  created_by: exampleApp.created_by,
  created_at: exampleApp.created_at,
} as const

/** The address of an app's preview, for work that made a revision of it. */
export const PREVIEW: SkillArtifact = {
  name: 'preview',
  operation: 'apps.get',
  ask: (record) => ofApp(record),
  as: 'url',
  mediaType: 'text/html',
  show: ({ preview_url }) => (typeof preview_url === 'string' ? preview_url : undefined),
}

/** The record of an app names it by its id, the record of an edit by `app_id`. */
function ofApp({ id, app_id = id }: WireRecord): Readonly<Record<string, string>> | undefined {
  return typeof app_id === 'string' ? { app_id } : undefined
}
