import { z } from 'zod'
import { readText } from '../../../../lib/internal/bytes.ts'
import { operation } from '../../../operations/operation.ts'
import { printedBytes } from '../../../operations/print-json.ts'
import { appError } from '../errors.ts'
import { appParams, exampleApp } from '../schema.ts'
import { bytesOf, loadCountedTree } from '../../../trees/keep.ts'
import { findApp, findRevision } from '../service.ts'
import { givenRevision } from './get-tree.ts'

const content = z
  .strictObject({
    app_id: z.string(),
    revision: z.int(),
    path: z.string(),
    size: z.int(),
    sha256: z.string(),
    content: z.string().nullable().meta({ description: 'Content as text; null if not UTF-8.' }),
    content_base64: z
      .string()
      .nullable()
      .meta({ description: 'Content as base64; null for text.' }),
  })
  .meta({ id: 'Content' })

export const getContent = operation({
  effect: 'read',
  id: 'apps.content',
  summary: 'Read one file of a revision',
  method: 'GET',
  path: '/v1/apps/{app_id}/content',
  access: { scope: 'apps:read', pinned: 'allowed' },
  agent: {
    toolset: 'apps',
    default: true,
    resource: ({ content, content_base64 }) =>
      typeof content === 'string'
        ? { mimeType: 'text/plain', text: content }
        : { mimeType: 'application/octet-stream', blob: String(content_base64) },
  },
  emits: ['apps'],
  input: {
    params: appParams,
    query: z.strictObject({
      path: z.string().min(1).max(300).meta({ example: 'index.html' }),
      revision: givenRevision,
    }),
  },
  output: content,
  errors: [
    'app_not_found',
    'app_not_ready',
    'revision_not_found',
    'path_not_found',
    'capability_unavailable',
  ],
  example: {
    params: { app_id: exampleApp.id },
    query: { path: 'index.html' },
    response: {
      app_id: exampleApp.id,
      revision: 1,
      path: 'index.html',
      size: 15,
      sha256: 'ab'.repeat(32),
      content: '<!doctype html>',
      content_base64: null,
    },
  },
  command: 'app content',
  async run({ platform, principal, params, query, reserve, abandoned }) {
    const { apps } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const revision = await findRevision(apps, app, query.revision)
    const bytes = bytesOf(platform)
    const { files } = await platform.queues.largePages(
      { holder: app.account_id, signal: abandoned() },
      () => loadCountedTree(bytes, revision, reserve),
    )
    const file = files.get(query.path)
    if (file === undefined) throw appError('path_not_found')
    // Reserved before the read: size in base64, or as text without escapes.
    reserve(Math.ceil(file.size / 3) * 4)
    const kept = await bytes.get(app.id, file.sha256)
    if (kept === undefined) throw new Error(`${file.path} of revision ${revision.number} is gone`)
    // As text it may be printed six times as long.
    reserve(printedBytes(kept))
    const text = readText(kept)
    return {
      app_id: app.id,
      revision: revision.number,
      ...file,
      content: text ?? null,
      content_base64: text === undefined ? Buffer.from(kept).toString('base64') : null,
    }
  },
})
