import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { accountOf, pinsOf } from '../../../authority/principal.ts'
import { idOf, listPage } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import {
  exampleWebhook,
  toWireWebhook,
  webhookPage,
  webhookParams,
  webhookRecord,
} from '../schema.ts'
import { findWebhook } from '../service.ts'

const query = z.strictObject({
  ...pageQuery,
  status: z
    .enum(['active', 'disabled'])
    .optional()
    .meta({ description: 'Filter by status. Default: every webhook.' }),
})

export const listWebhooks = operation({
  effect: 'read',
  id: 'webhooks.list',
  summary: 'List the webhooks of the account',
  method: 'GET',
  path: '/v1/webhooks',
  access: { scope: 'webhooks:read', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks' },
  emits: ['webhooks'],
  input: { query },
  output: webhookPage,
  errors: ['invalid_cursor'],
  example: { response: { data: [exampleWebhook], has_more: false, next_cursor: null } },
  command: 'webhook list',
  async run(call) {
    const { platform, principal, query } = call
    const account = accountOf(principal)
    const status = query.status ?? null
    const within = pinsOf(principal)
    return listPage(call, {
      list: { list: 'webhooks', account, status },
      read: (range) =>
        platform.store.webhooks.list({ account_id: account, status, within, ...range }),
      cursorOf: idOf,
      show: () => toWireWebhook,
    })
  },
})

export const getWebhook = operation({
  effect: 'read',
  id: 'webhooks.get',
  summary: 'Show one webhook',
  method: 'GET',
  path: '/v1/webhooks/{webhook_id}',
  access: { scope: 'webhooks:read', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks' },
  emits: ['webhooks'],
  input: { params: webhookParams },
  output: webhookRecord,
  errors: ['webhook_not_found'],
  example: { params: { webhook_id: exampleWebhook.id }, response: exampleWebhook },
  command: 'webhook get',
  async run({ platform, principal, params }) {
    return toWireWebhook(await findWebhook(platform.store.webhooks, principal, params.webhook_id))
  },
})
