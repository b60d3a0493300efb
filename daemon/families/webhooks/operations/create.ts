import { requireApps } from '../../../authority/app-directory.ts'
import { requireReceivable } from '../../../events/authority.ts'
import { operation } from '../../../operations/operation.ts'
import { accountOf } from '../../../authority/principal.ts'
import { loadActor } from '../../keys/service.ts'
import { insertWebhook } from '../insert.ts'
import { createdWebhook, exampleWebhook, toWireWebhook, webhookCreation } from '../schema.ts'
import { judgeAddress, requireHeadersAllowed } from '../address.ts'
import { grantApps, judgeHeaders, requireKnownTypes } from '../service.ts'
import { UNMATCHED_FAMILIES } from '../unmatched.ts'

export const createWebhook = operation({
  effect: 'write',
  id: 'webhooks.create',
  summary: 'Create a webhook; its signing secret is shown once',
  method: 'POST',
  path: '/v1/webhooks',
  access: { scope: 'webhooks:write', pinned: 'allowed', portal: true },
  agent: { toolset: 'webhooks' },
  emits: ['webhooks'],
  input: { body: webhookCreation },
  output: createdWebhook,
  status: 201,
  errors: [
    'invalid_url',
    'url_not_public',
    'unknown_destination',
    'unknown_event_type',
    'previous_value_restricted',
    'scope_not_delegable',
    'app_not_found',
    'webhook_limit_reached',
  ],
  example: {
    body: {
      url: 'https://hooks.example.com/in',
      events: ['app.deployed'],
      description: 'Tells the chat',
    },
    response: {
      ...exampleWebhook,
      last_success_at: null,
      last_delivery_at: null,
      secret: 'whsec_q83vEjRWeJq7zd7wEjRW…',
    },
  },
  secret: ['secret'],
  command: 'webhook create',
  warning: UNMATCHED_FAMILIES,
  async prepare({ platform, principal, body }) {
    const apps = grantApps(principal, body.apps)
    judgeHeaders(platform, body.headers)
    requireHeadersAllowed(body.url, body.headers)
    requireReceivable(platform, principal.authority, body.events, 'body.events')
    const account = accountOf(principal)
    await requireKnownTypes(platform, account, body.events)
    return { apps, url: await judgeAddress(platform, account, body.url) }
  },
  async run(call) {
    const { platform, principal, body, prepared } = call
    const account_id = accountOf(principal)
    const { authority } = await loadActor(call)
    requireReceivable(platform, authority, body.events, 'body.events')
    await requireApps(call, account_id, body.apps)
    const { webhook, secret } = await insertWebhook(call, {
      ...prepared,
      events: body.events,
      description: body.description ?? null,
      standard_headers: body.standard_headers ?? platform.standardHeaders,
      trace_headers: body.trace_headers ?? false,
      headers: body.headers ?? {},
      rate_limit: body.rate_limit ?? null,
      concurrency: body.concurrency ?? null,
      status: body.status ?? 'active',
    })
    return { ...toWireWebhook(webhook), secret }
  },
})
