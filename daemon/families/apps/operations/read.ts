import { z } from 'zod'
import type { AppListQuery } from '../../../../plugins/platform/contract/apps.ts'
import { placeOfApp } from '../../../../plugins/platform/contract/apps.ts'
import { operation } from '../../../operations/operation.ts'
import { queryFlag } from '../../../operations/query-values.ts'
import { accountOf, pinsOf } from '../../../authority/principal.ts'
import { listPage } from '../../cursor.ts'
import { filteredPageQuery, plainText } from '../../wire.ts'
import { appPage, exampleApp, appParams, appRecord } from '../schema.ts'
import { showApps, showApp } from '../show.ts'
import { findApp } from '../service.ts'

const query = z.strictObject({
  ...filteredPageQuery('apps'),
  status: z
    .enum(['creating', 'ready', 'failed', 'archived'])
    .optional()
    .meta({ description: 'Filter by status. Default: every app that is not archived.' }),
  alias: plainText.optional().meta({ description: 'Filter by alias.' }),
  include_archived: queryFlag
    .optional()
    .meta({ description: 'Whether to include archived apps. Default false.' }),
})

export const listApps = operation({
  effect: 'read',
  id: 'apps.list',
  summary: 'List the apps of the account',
  method: 'GET',
  path: '/v1/apps',
  access: { scope: 'apps:read', pinned: 'allowed' },
  agent: { toolset: 'apps', default: true },
  emits: ['apps'],
  input: { query },
  output: appPage,
  errors: ['invalid_cursor'],
  example: { response: { data: [exampleApp], has_more: false, next_cursor: null } },
  command: 'app list',
  async run(call) {
    const { platform, principal, query } = call
    const account = accountOf(principal)
    const filters = {
      ids: pinsOf(principal),
      archived: archivedOf(query),
      status: query.status === 'archived' ? null : (query.status ?? null),
      alias: query.alias ?? null,
    }
    const { apps, deployments } = platform.store
    return listPage(call, {
      list: { list: 'apps', account, ...filters },
      read: (range) => apps.list({ account_id: account, ...filters, ...range }),
      cursorOf: placeOfApp,
      show: (rows) => showApps(platform, deployments, rows),
    })
  },
})

function archivedOf({
  status,
  include_archived,
}: z.output<typeof query>): AppListQuery['archived'] {
  if (status === 'archived') return 'only'
  return include_archived === 'true' ? 'include' : 'exclude'
}

export const getApp = operation({
  effect: 'read',
  id: 'apps.get',
  summary: 'Read an app',
  method: 'GET',
  path: '/v1/apps/{app_id}',
  access: { scope: 'apps:read', pinned: 'allowed' },
  agent: { toolset: 'apps', default: true, resource: true },
  emits: ['apps'],
  input: { params: appParams },
  output: appRecord,
  errors: ['app_not_found'],
  example: { params: { app_id: exampleApp.id }, response: exampleApp },
  command: 'app get',
  async run({ platform, principal, params }) {
    const { apps, deployments } = platform.store
    return showApp(platform, deployments, await findApp(apps, principal, params.app_id))
  },
})
