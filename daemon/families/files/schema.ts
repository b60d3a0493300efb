import { z } from 'zod'
import { toIso } from '../../../lib/time.ts'
import type { FileRecord } from '../../../plugins/platform/contract/files.ts'
import { FILE_STATUSES } from '../../../plugins/platform/contract/files.ts'
import { exampleApp } from '../apps/schema.ts'
import { creator, instant, isoOrNull, pageOf, plainText } from '../wire.ts'

export const fileParams = z.strictObject({ app_id: plainText, file_id: plainText })

const failure = z.strictObject({ code: z.string(), message: z.string() })

export const fileRecord = z
  .strictObject({
    id: z.string(),
    file_id: z.string().meta({ description: 'Same as id.' }),
    app_id: z.string(),
    name: z.string(),
    content_type: z.string().meta({ description: 'Media type found from the content.' }),
    size_bytes: z.int(),
    sha256: z.string(),
    status: z
      .enum(FILE_STATUSES)
      .meta({ description: 'Status; search finds processed files only.' }),
    stage: z.string().nullable().meta({ description: 'Current stage of processing.' }),
    progress: z
      .strictObject({ done: z.int(), total: z.int().nullable() })
      .nullable()
      .meta({ description: 'Progress of the stage, such as pages.' }),
    chunks: z.int().nullable().meta({ description: 'Number of passages.' }),
    characters: z.int().nullable().meta({ description: 'Characters of the extracted text.' }),
    error: failure.nullable().meta({ description: 'Reason why processing failed.' }),
    attempts: z.int(),
    created_by: creator,
    created_at: instant,
    processed_at: instant.nullable(),
  })
  .meta({ id: 'File' })

export const filePage = pageOf(fileRecord)

export function toWireFile(file: FileRecord): z.input<typeof fileRecord> {
  const { id, stage, done, total } = file
  return {
    id,
    file_id: id,
    app_id: file.app_id,
    name: file.name,
    content_type: file.content_type,
    size_bytes: file.size,
    sha256: file.sha256,
    status: file.status,
    stage,
    progress: stage === null ? null : { done, total },
    chunks: file.chunks,
    characters: file.characters,
    error: file.error && { ...file.error },
    attempts: file.attempts,
    created_by: { ...file.created_by },
    created_at: toIso(file.created_at),
    processed_at: isoOrNull(file.processed_at),
  }
}

/** Path of a file. */
export function pathOfFile({
  app_id,
  id,
}: Pick<z.input<typeof fileRecord>, 'app_id' | 'id'>): string {
  return `/v1/apps/${app_id}/files/${id}`
}

/** File of the examples. */
export const exampleFile = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  file_id: '01890a5d-ac96-774b-bcce-b302099a8057',
  app_id: exampleApp.id,
  name: 'opening-hours.pdf',
  content_type: 'application/pdf',
  size_bytes: 48_211,
  sha256: 'ab'.repeat(32),
  status: 'processed',
  stage: null,
  progress: null,
  chunks: 12,
  characters: 10_402,
  error: null,
  attempts: 1,
  created_by: exampleApp.created_by,
  created_at: '2026-01-30T12:00:00.000Z',
  processed_at: '2026-01-30T12:00:03.000Z',
} as const

/** A file that was just accepted. */
export const exampleQueued = {
  ...exampleFile,
  status: 'queued',
  chunks: null,
  characters: null,
  attempts: 0,
  processed_at: null,
} as const
