import { z } from 'zod'
import type { TaskPush, TaskRecord } from '../../plugins/platform/contract/tasks.ts'
import type { KeyPrincipal } from '../authority/principal.ts'
import { audit } from '../families/audit/note.ts'
import { MAX_WEBHOOKS, insertWebhook } from '../families/webhooks/insert.ts'
import { grantApps, judgeHeaders, judgeTarget } from '../families/webhooks/service.ts'
import { notifyWebhooks } from '../jobs/notify-task.ts'
import type { WriteCall } from '../operations/call.ts'
import { operation } from '../operations/operation.ts'
import { a2aError } from './errors.ts'
import { isUnderWay } from './states.ts'

/** Maximum pushes of one task. */
const MAX_PUSHES = 10

/** Sent with every delivery: the client's token, and the credentials that it asked for. */
const headers = z.record(z.string(), z.string())

const body = z.strictObject({
  task_id: z.string(),
  id: z.string(),
  url: z.string(),
  headers,
  scheme: z.string().nullable(),
})

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
    judgeHeaders(platform, body.headers)
    return judgeTarget(platform, body.url, 'url')
  },
  async run(call) {
    const { platform, tx, body, prepared: url, now } = call
    const { id: key_id, account_id } = (call.principal as KeyPrincipal).key
    const task = await tx.tasks.lock(key_id, body.task_id)
    if (task === undefined) throw a2aError('task_gone')
    const pushes = await tx.tasks.pushes(task.id)
    const before = pushes.find(({ id }) => id === body.id)
    if (before !== undefined) await end(call, before)
    else if (pushes.length >= MAX_PUSHES) throw a2aError('too_many_pushes')
    await makeRoom(call, account_id)
    const { webhook } = await insertWebhook(call, {
      url,
      headers: body.headers,
      events: [],
      apps: appsOf(call, task),
      description: `Updates of the A2A task ${task.id}`,
      standard_headers: platform.standardHeaders,
      rate_limit: null,
      // One status after the other.
      concurrency: 1,
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

/** Webhooks of tasks that have ended, and that have nothing left to send, make room for others. */
async function makeRoom(call: Call, accountId: string): Promise<void> {
  const { tx, now } = call
  if ((await tx.webhooksOf(accountId)).length < MAX_WEBHOOKS) return
  for (const push of await tx.tasks.endedPushes(accountId, now, MAX_WEBHOOKS)) {
    const sends = await tx.deliveries.hasUnfinishedBeyond(push.webhook_id, {
      types: [],
      apps: null,
    })
    if (!sends) await end(call, push)
  }
}

async function end(call: Call, push: TaskPush): Promise<void> {
  const { tx, now } = call
  const { account_id, webhook_id } = push
  await tx.tasks.dropPush(push)
  const webhook = await tx.webhooks.get(account_id, webhook_id)
  // Its owner may have deleted it, or subscribed it to events: it is theirs then.
  if (webhook?.events.length !== 0) return
  await tx.webhooks.delete(webhook_id, now)
  const action = 'webhook.deleted'
  await audit(call, { account_id, action, target_type: 'webhook', target_id: webhook_id })
}
