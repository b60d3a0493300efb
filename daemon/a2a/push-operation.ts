import { z } from 'zod'
import type { TaskRecord } from '../../plugins/platform/contract/tasks.ts'
import type { KeyPrincipal } from '../authority/principal.ts'
import { insertWebhook } from '../families/webhooks/insert.ts'
import { grantApps, judgeHeaders, judgeTarget } from '../families/webhooks/service.ts'
import { notifyWebhooks } from '../jobs/tasks.ts'
import type { WriteCall } from '../operations/call.ts'
import { operation } from '../operations/operation.ts'
import { a2aError } from './errors.ts'
import { endBefore } from './push-room.ts'
import { isUnderWay } from './states.ts'

/** Sent with every delivery: the client's token, and the credentials that it asked for. */
const headers = z.record(z.string(), z.string())

const body = z.strictObject({
  task_id: z.string(),
  id: z.string(),
  url: z.string(),
  headers,
  scheme: z.string().nullable(),
})

/** The header of a configuration's token; its other one is of `authentication`. */
export const TOKEN_HEADER = 'X-A2A-Notification-Token'

/** The field of a configuration that a header is made of. */
export const fieldOf = (header: string): string =>
  header === TOKEN_HEADER ? 'token' : 'authentication'

/**
 * Creates the webhook of a push: with the scope, the guard, the limits and the audit row of any other. It
 * subscribes to nothing, so that it receives the updates of its task alone.
 */
export const createPush = operation({
  effect: 'write',
  id: 'webhooks.create',
  summary: 'Push the updates of a task to an address',
  method: 'POST',
  path: '/v1/webhooks',
  access: { scope: 'webhooks:write', pinned: 'allowed' },
  agent: { omit: 'A method of A2A.' },
  emits: ['webhooks'],
  input: { body },
  output: z.strictObject({ webhook_id: z.string() }),
  errors: ['invalid_url', 'url_not_public', 'webhook_limit_reached'],
  example: {
    body: { task_id: 'task', id: 'push', url: 'https://a.example/', headers: {}, scheme: null },
    response: { webhook_id: 'webhook' },
  },
  async prepare({ platform, body }) {
    judgeHeaders(platform, body.headers, fieldOf)
    return judgeTarget(platform, body.url, 'url')
  },
  async run(call) {
    const { platform, tx, body, prepared: url, now } = call
    const { id: key_id, account_id } = (call.principal as KeyPrincipal).key
    const task = await tx.tasks.lock(key_id, body.task_id)
    if (task === undefined) throw a2aError('task_gone')
    await endBefore(call, { account_id, task_id: task.id, id: body.id })
    const { webhook } = await insertWebhook(call, {
      url,
      headers: body.headers,
      events: [],
      apps: appsOf(call, task),
      description: `Updates of the A2A task ${task.id}`,
      standard_headers: platform.standardHeaders,
      trace_headers: false,
      rate_limit: null,
      // One status after the other.
      concurrency: 1,
      status: 'active',
    })
    const { id, scheme } = body
    const webhook_id = webhook.id
    await tx.tasks.putPush({
      task_id: task.id,
      id,
      account_id,
      webhook_id,
      scheme,
      created_at: now,
    })
    // Nothing more may become of it: its state is what there is to say.
    if (!isUnderWay(task.state)) await notifyWebhooks(platform, tx, task, [webhook])
    return { webhook_id }
  },
})

type Call = WriteCall<{ readonly body: typeof body }, string>

function appsOf({ principal }: Call, { app_id }: TaskRecord): readonly string[] | null {
  return grantApps(principal, app_id === null ? undefined : [app_id])
}
