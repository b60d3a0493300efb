import { KeyhookError, kernelError } from '../../lib/errors.ts'
import type { TaskPush, TaskRecord } from '../../plugins/platform/contract/tasks.ts'
import { deleteWebhook } from '../families/webhooks/operations/delete.ts'
import { getWebhook } from '../families/webhooks/operations/read.ts'
import { judgeHeaders, judgeTarget } from '../families/webhooks/service.ts'
import type { A2aCall } from './call.ts'
import { TOKEN_HEADER, createPush, fieldOf } from './push-operation.ts'
import { judgeRoom } from './push-room.ts'
import { requireTask } from './tasks.ts'
import type { Message, PushConfig } from './wire.ts'
import { ProtocolError } from './protocol-errors.ts'

/** A configuration as it is shown: the token and the credentials are sent to its address alone. */
export interface WirePush {
  readonly id: string
  readonly taskId: string
  readonly url: string
  readonly authentication?: { readonly scheme: string }
}

type Target = Pick<PushConfig, 'url' | 'token' | 'authentication'>

type Wanted = Target & { readonly id: string }

/**
 * Refuses a configuration before the work of the message that it is sent with begins.
 *
 * @throws KeyhookError `insufficient_scope`, `too_many_pushes`, and as the creation of a webhook is refused
 */
export async function judgePush(
  call: A2aCall,
  { messageId, taskId }: Message,
  wanted: PushConfig,
): Promise<void> {
  const { platform, principal, allows } = call
  if (!allows(createPush)) throw missingScope()
  const field = 'configuration.taskPushNotificationConfig'
  judgeHeaders(platform, headersOf(wanted), (name) => `${field}.${fieldOf(name)}`)
  await judgeTarget(platform, wanted.url, `${field}.url`)
  const { store, clock } = platform
  // Of a message that was sent before, the work has begun, and its push may be there.
  if ((await store.tasks.sent(principal.key.id, messageId, taskId)) !== undefined) return
  if (taskId !== '') await requireTask(call, taskId)
  const { account_id } = principal
  await judgeRoom(store, { account_id, task_id: taskId, id: wanted.id || taskId }, clock.now())
}

/** Pushes the updates of a task from now on; what has the id of another one replaces it. */
export async function putPush(
  call: A2aCall,
  task: TaskRecord,
  { id, ...wanted }: Wanted,
): Promise<WirePush> {
  const scheme = wanted.authentication?.scheme ?? null
  const headers = headersOf(wanted)
  const known = (await call.platform.store.tasks.pushes(task.id)).find((push) => push.id === id)
  if (known === undefined || !(await isSame(call, known, wanted.url, headers))) {
    const value = { task_id: task.id, id, url: wanted.url, headers, scheme }
    const body = { value, text: JSON.stringify(value) }
    await call.run({ operation: createPush, body })
  }
  return show({ id, task_id: task.id, scheme }, wanted.url)
}

/** The message may have been sent again. */
async function isSame(
  { platform, principal }: A2aCall,
  { webhook_id }: TaskPush,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<boolean> {
  const target = await platform.engine.targets.find(principal.account_id, webhook_id)
  const isThere = target !== undefined && URL.canParse(url)
  const now = JSON.stringify(Object.entries(headers))
  return (
    isThere &&
    target.webhook.url === new URL(url).href &&
    JSON.stringify(Object.entries(target.headers)) === now &&
    // One that was disabled receives nothing: it is replaced.
    target.webhook.status === 'active'
  )
}

export async function getPush(call: A2aCall, taskId: string, id: string): Promise<WirePush> {
  const task = await requireTask(call, taskId)
  const push = (await call.platform.store.tasks.pushes(task.id)).find((one) => one.id === id)
  const shown = push && (await readPush(call, push))
  if (shown === undefined) throw new ProtocolError('TASK_NOT_FOUND', 'No such configuration.')
  return shown
}

export async function listPushes(
  call: A2aCall,
  taskId: string,
): Promise<{ readonly configs: readonly WirePush[]; readonly nextPageToken: string }> {
  const task = await requireTask(call, taskId)
  const configs: WirePush[] = []
  for (const push of await call.platform.store.tasks.pushes(task.id)) {
    const shown = await readPush(call, push)
    if (shown !== undefined) configs.push(shown)
  }
  return { configs, nextPageToken: '' }
}

/** Deletes one, and what it has not sent yet; again, nothing. */
export async function deletePush(call: A2aCall, taskId: string, id: string): Promise<object> {
  const task = await requireTask(call, taskId)
  const push = (await call.platform.store.tasks.pushes(task.id)).find((one) => one.id === id)
  if (push === undefined) return {}
  const params = { webhook_id: push.webhook_id }
  try {
    await call.run({
      operation: deleteWebhook,
      params,
      alsoCommit: async (tx) => {
        await tx.tasks.dropPush(push)
      },
    })
  } catch (cause) {
    if (!isGone(cause)) throw cause
    await call.platform.store.write((tx) => tx.tasks.dropPush(push))
  }
  return {}
}

/** Undefined when its webhook was deleted as such. */
async function readPush(
  { platform, allows }: A2aCall,
  push: TaskPush,
): Promise<WirePush | undefined> {
  if (!allows(getWebhook) && !allows(createPush)) throw missingScope()
  const webhook = await platform.store.webhooks.get(push.account_id, push.webhook_id)
  return webhook && show(push, webhook.url)
}

function missingScope(): KeyhookError {
  const needed = ['webhooks:write']
  return kernelError('insufficient_scope', {
    details: { required_scopes: needed, missing_scopes: needed },
  })
}

const isGone = (cause: unknown): boolean =>
  cause instanceof KeyhookError && cause.code === 'webhook_not_found'

function show({ id, task_id, scheme }: Pick<TaskPush, 'id' | 'task_id' | 'scheme'>, url: string) {
  return { id, taskId: task_id, url, ...(scheme !== null && { authentication: { scheme } }) }
}

function headersOf({ token, authentication }: Target): Readonly<Record<string, string>> {
  const { scheme, credentials = '' } = authentication ?? {}
  return {
    ...(token !== undefined && token !== '' && { [TOKEN_HEADER]: token }),
    ...(scheme !== undefined && { Authorization: `${scheme} ${credentials}`.trim() }),
  }
}
