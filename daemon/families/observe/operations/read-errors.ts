import { z } from 'zod'
import {
  ERROR_GROUP_STATUSES,
  placeOfErrorGroup,
} from '../../../../plugins/platform/contract/error-groups.ts'
import { operation } from '../../../operations/operation.ts'
import { appParams } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { listPage } from '../../cursor.ts'
import { givenInstant, pageQuery, text } from '../../wire.ts'
import { errorPage, exampleError, toWireError, appError, errorParams } from '../error-schema.ts'
import { env } from '../log-schema.ts'
import { findErrorGroup } from '../service.ts'

const query = z.strictObject({
  ...pageQuery,
  status: z.enum(ERROR_GROUP_STATUSES).optional(),
  env: env.optional(),
  since: givenInstant.optional().meta({ description: 'Last seen at this instant or later.' }),
  q: text(200).optional().meta({ description: 'Text in title or culprit, case-sensitive.' }),
})

export const listAppErrors = operation({
  effect: 'read',
  id: 'observe.errors',
  summary: "List the errors of an app's pages, last seen first",
  method: 'GET',
  path: '/v1/apps/{app_id}/errors',
  access: { scope: 'observe:read', pinned: 'allowed' },
  agent: { toolset: 'observe', default: true, resource: true },
  emits: ['observe'],
  input: { params: appParams, query },
  output: errorPage,
  errors: ['app_not_found', 'invalid_cursor'],
  example: {
    params: { app_id: exampleError.app_id },
    response: { data: [exampleError], has_more: false, next_cursor: null },
  },
  command: 'app errors',
  async run(call) {
    const { platform, principal, params, query } = call
    const { apps, observations } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const filters = {
      app_id: app.id,
      kind: query.env ?? null,
      status: query.status ?? null,
      since: query.since ?? null,
      text: query.q ?? null,
    }
    return listPage(call, {
      list: { list: 'app-errors', ...filters },
      read: (range) => observations.errorGroups({ ...filters, ...range }),
      cursorOf: placeOfErrorGroup,
      show: () => toWireError,
    })
  },
})

export const getAppError = operation({
  effect: 'read',
  id: 'observe.get_error',
  summary: "Read an error of an app's pages",
  method: 'GET',
  path: '/v1/apps/{app_id}/errors/{error_id}',
  access: { scope: 'observe:read', pinned: 'allowed' },
  agent: { toolset: 'observe' },
  emits: ['observe'],
  input: { params: errorParams },
  output: appError,
  errors: ['app_not_found', 'error_not_found'],
  example: {
    params: { app_id: exampleError.app_id, error_id: exampleError.id },
    response: exampleError,
  },
  command: 'app error',
  async run(call) {
    return toWireError(await findErrorGroup(call.platform.store, call))
  },
})
