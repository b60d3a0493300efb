import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { wholeNumber } from '../../../operations/query-values.ts'
import { appParams, exampleApp } from '../schema.ts'
import { bytesOf, loadCountedTree } from '../../../trees/keep.ts'
import { findApp, findRevision } from '../service.ts'

/** A revision in a query. */
export const givenRevision = wholeNumber(/^[1-9][0-9]{0,8}$/, 'Must be the number of a revision.', {
  minimum: 1,
  maximum: 999_999_999,
})
  .optional()
  .meta({ description: 'Default: the current revision.' })

const tree = z
  .strictObject({
    app_id: z.string(),
    revision: z.int(),
    files: z.array(z.strictObject({ path: z.string(), size: z.int(), sha256: z.string() })),
    config: z.record(z.string(), z.string()),
  })
  .meta({ id: 'Tree' })

export const getTree = operation({
  effect: 'read',
  id: 'apps.tree',
  summary: 'List the files and the configuration of a revision',
  method: 'GET',
  path: '/v1/apps/{app_id}/tree',
  access: { scope: 'apps:read', pinned: 'allowed' },
  agent: { toolset: 'apps', default: true, resource: true },
  emits: ['apps'],
  input: { params: appParams, query: z.strictObject({ revision: givenRevision }) },
  output: tree,
  errors: ['app_not_found', 'app_not_ready', 'revision_not_found', 'capability_unavailable'],
  example: {
    params: { app_id: exampleApp.id },
    response: {
      app_id: exampleApp.id,
      revision: 1,
      files: [{ path: 'index.html', size: 2_817, sha256: 'ab'.repeat(32) }],
      config: {},
    },
  },
  command: 'app tree',
  async run({ platform, principal, params, query, reserve, abandoned }) {
    const { apps } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const revision = await findRevision(apps, app, query.revision)
    const { files, config } = await platform.queues.largePages(
      { holder: app.account_id, signal: abandoned() },
      () => loadCountedTree(bytesOf(platform), revision, reserve),
    )
    return {
      app_id: app.id,
      revision: revision.number,
      files: [...files.values()].map((file) => ({ ...file })),
      config: Object.fromEntries(config),
    }
  },
})
