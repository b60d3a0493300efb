import { z } from 'zod'
import { KeyhookError } from '../../../../lib/errors.ts'
import type { FileRecord } from '../../../../plugins/platform/contract/files.ts'
import { operation } from '../../../operations/operation.ts'
import { dryRun } from '../../../billing/dry-run.ts'
import type { FilePart, GivenPart } from '../../../operations/parts.ts'
import { appParams, exampleApp } from '../../apps/schema.ts'
import { bytesOf } from '../../../trees/keep.ts'
import { findLiveApp } from '../../apps/service.ts'
import { knowledgeError } from '../errors.ts'
import type { KeptFile } from '../keep.ts'
import { isOfFile, keepFile } from '../keep.ts'
import { MEASURED, readQuota } from '../quota.ts'
import { exampleQueued, fileRecord, pathOfFile, toWireFile } from '../schema.ts'
import { MAX_FILE_BYTES, processorOf } from '../service.ts'
import { insertFiles } from '../insert-files.ts'

/** A received file and its position in the request. */
interface Kept extends KeptFile {
  readonly at: number
}

/** A refused file and its position in the request. */
interface Refused {
  readonly at: number
  readonly name: string
  readonly error: KeyhookError
}

const input = {
  params: appParams,
  parts: {
    file: {
      kind: 'file',
      description:
        'Files, at most 25 MiB each: pdf, docx, xlsx, html, markdown, csv, tsv, json or text, and what further readers of the service read.',
      least: 1,
      most: 20,
      limit: MAX_FILE_BYTES,
      mediaTypes: [
        'application/pdf',
        'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
        'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
        'text/html',
        'text/markdown',
        'text/csv',
        'text/tab-separated-values',
        'application/json',
        'text/plain',
      ],
    },
  },
} as const

export const uploadFiles = operation({
  effect: 'own',
  id: 'files.upload',
  summary: 'Upload knowledge files to an app; returns existing ones unchanged',
  method: 'POST',
  path: '/v1/apps/{app_id}/files',
  access: { scope: 'files:write', pinned: 'allowed' },
  agent: { toolset: 'files', default: true },
  emits: ['files'],
  input,
  output: z.strictObject({
    data: z.array(fileRecord),
    errors: z
      .array(z.strictObject({ name: z.string(), code: z.string(), message: z.string() }))
      .meta({ description: 'Refused files, where others were accepted.' }),
  }),
  status: 202,
  watch({ data: [first, ...others] }) {
    if (first === undefined) throw new TypeError('no file was accepted')
    return others.length === 0 ? pathOfFile(first) : `/v1/apps/${first.app_id}/files`
  },
  errors: [
    'app_not_found',
    'app_archived',
    'file_limit_reached',
    'insufficient_balance',
    'file_too_large',
    'invalid_file_name',
    'wrong_type',
    'empty_file',
    'capability_unavailable',
  ],
  example: {
    params: { app_id: exampleApp.id },
    response: { data: [exampleQueued], errors: [] },
  },
  quote: dryRun<typeof input>(async ({ platform, principal, params, parts }) => {
    const { apps, files } = platform.store
    const { id: app_id } = await findLiveApp(apps, principal, params.app_id)
    const processor = processorOf(platform)
    const kept: Kept[] = []
    const refused: Refused[] = []
    await judgeEach(parts, (part) => keepFile(part, processor, MEASURED), { kept, refused })
    if (kept.length === 0) throw inOne(refused)
    const sizes = new Map(kept.map(({ sha256, size }) => [sha256, size]))
    for (const sha256 of sizes.keys()) {
      // Bytes that the app has already are not charged again.
      if ((await files.bySha256(app_id, sha256)) !== undefined) sizes.delete(sha256)
    }
    return { operation: 'files.upload', app_id, quantities: [...sizes.values()] }
  }),
  command: 'file upload <file>',
  /**
   * Bytes are stored before the row that refers to them. Those of a file that is refused afterwards are left to
   * garbage collection: a concurrent request may be about to refer to them.
   */
  async run(call) {
    const { platform, principal, params, parts, unit } = call
    const { id, account_id } = await findLiveApp(platform.store.apps, principal, params.app_id)
    const bytes = bytesOf(platform)
    const processor = processorOf(platform)
    const quota = await readQuota(platform.store.files, bytes, id)
    const kept: Kept[] = []
    const refused: Refused[] = []
    let taken: readonly (FileRecord | undefined)[] = []
    try {
      await judgeEach(parts, (part) => keepFile(part, processor, quota), { kept, refused })
      taken = await unit(async (tx) => {
        await findLiveApp(tx.apps, principal, id)
        return insertFiles(call, tx, { app_id: id, account_id }, kept)
      })
    } finally {
      if (kept.some(({ isKept }, index) => isKept && taken[index] === undefined)) {
        platform.workAvailable.bytes(id)
      }
    }
    for (const [index, { at, name }] of kept.entries()) {
      if (taken[index] !== undefined) continue
      refused.push({ at, name, error: knowledgeError('file_limit_reached') })
    }
    const data = taken.flatMap((file) => (file === undefined ? [] : [toWireFile(file)]))
    if (data.length === 0) throw inOne(refused)
    return {
      data,
      errors: refused.map(({ name, error: { code, message } }) => ({ name, code, message })),
    }
  },
})

/** Stores files while they are received; collects those that are refused. */
async function judgeEach(
  parts: AsyncIterable<GivenPart>,
  keep: (part: FilePart) => Promise<KeptFile>,
  { kept, refused }: { readonly kept: Kept[]; readonly refused: Refused[] },
): Promise<void> {
  let at = 0
  for await (const part of parts) {
    if (part.kind !== 'file') continue
    try {
      kept.push({ ...(await keep(part)), at })
    } catch (cause) {
      if (!isOfFile(cause)) throw cause
      refused.push({ at, name: part.filename.slice(0, 255), error: cause })
    }
    at++
  }
}

/** The error of a request without an accepted file: the first file's, with those of all in its details. */
function inOne(refused: readonly Refused[]): KeyhookError {
  const [first] = refused
  if (first === undefined) throw new TypeError('the request had no file')
  const { code, status, message, details } = first.error
  return new KeyhookError(
    code,
    { status, text: message },
    {
      ...(details === undefined ? {} : { details }),
      errors: refused.map(({ at, error }) => ({
        location: `body.file[${at}]`,
        code: error.code,
        message: error.message,
      })),
    },
  )
}
