import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { appParams } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { idOf, listPage } from '../../cursor.ts'
import { filteredPageQuery, givenInstant, plainText, text } from '../../wire.ts'
import { env, exampleLine, exampleParams, logPage, toWireLine } from '../log-schema.ts'

const query = z.strictObject({
  ...filteredPageQuery('requests'),
  source: z
    .enum(['access'])
    .optional()
    .meta({ description: 'Source of lines: requests to the app.' }),
  env: env.optional(),
  status: z
    .enum(['1xx', '2xx', '3xx', '4xx', '5xx'])
    .optional()
    .meta({ description: 'Level, by response status.' }),
  since: givenInstant.optional().meta({ description: 'At this instant or later.' }),
  until: givenInstant.optional().meta({ description: 'Before this instant.' }),
  q: text(1024).optional().meta({ description: 'Prefix of the path, case-sensitive.' }),
  deployment_id: plainText.optional(),
})

export const listLogs = operation({
  effect: 'read',
  id: 'observe.logs',
  summary: 'List the requests to an app, newest first',
  method: 'GET',
  path: '/v1/apps/{app_id}/logs',
  access: { scope: 'observe:read', pinned: 'allowed' },
  agent: { toolset: 'observe', default: true, resource: true },
  emits: ['observe'],
  input: { params: appParams, query },
  output: logPage,
  errors: ['app_not_found', 'invalid_cursor'],
  example: {
    params: exampleParams,
    response: { data: [exampleLine], has_more: false, next_cursor: null },
  },
  command: 'app logs',
  async run(call) {
    const { platform, principal, params, query } = call
    const { apps, observations } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const filters = {
      app_id: app.id,
      kind: query.env ?? null,
      status_class: query.status === undefined ? null : Number(query.status[0]),
      since: query.since ?? null,
      until: query.until ?? null,
      path: query.q ?? null,
      deployment_id: query.deployment_id ?? null,
    }
    return listPage(call, {
      list: { list: 'logs', ...filters },
      read: (range) => observations.lines({ ...filters, ...range }),
      cursorOf: idOf,
      show: () => toWireLine,
    })
  },
})
