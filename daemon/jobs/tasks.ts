/**
 * Tasks of agents: the status that is sent wherever a task is read (A2A 4.1, 4.2.1), its notifications, and
 * its moves.
 *
 * @module
 */
import { createDelivery } from '../../lib/engine/enqueue.ts'
import type { NewEvent } from '../../lib/engine/ports.ts'
import type { Instant } from '../../lib/time.ts'
import type { WebhookRecord } from '../../lib/webhook/record.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type {
  TaskMessage,
  TaskReads,
  TaskRecord,
  TaskState,
  TaskFailure,
  TaskMove,
} from '../../plugins/platform/contract/tasks.ts'
import { IDENTIFIERS, defineEvents } from '../events/types.ts'
import type { Platform } from '../platform.ts'

/** Names of the states in the protocol; no task of this service asks for credentials. */
export const STATE_NAMES = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  input_required: 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
  rejected: 'TASK_STATE_REJECTED',
} as const satisfies Readonly<Record<TaskState, string>>

export type WireState = (typeof STATE_NAMES)[TaskState]

/** A message of the agent's, or one that was received. */
export interface WireMessage {
  readonly messageId: string
  readonly contextId: string
  readonly taskId: string
  readonly role: 'ROLE_USER' | 'ROLE_AGENT'
  readonly parts: readonly WirePart[]
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface WirePart {
  readonly text?: string
  readonly raw?: string
  readonly url?: string
  readonly data?: unknown
  readonly mediaType?: string
  readonly filename?: string
}

export interface WireStatus {
  readonly state: WireState
  readonly message?: WireMessage
  readonly timestamp: string
}

/** One event of a stream, and the body of a notification. */
export interface StatusUpdate {
  readonly statusUpdate: {
    readonly taskId: string
    readonly contextId: string
    readonly status: WireStatus
  }
}

/** The state of a task, with the question that it asks or the reason for its end. */
export async function statusOf(
  reads: Pick<TaskReads, 'messages'>,
  task: TaskRecord,
): Promise<WireStatus> {
  const isAsking = task.state === 'input_required'
  const [question] = isAsking ? await reads.messages(task.id, 1) : []
  const message = question === undefined ? endMessage(task) : asMessage(question)
  return {
    state: STATE_NAMES[task.state],
    ...(message !== undefined && { message }),
    timestamp: new Date(task.state_at).toISOString(),
  }
}

export function updateOf(
  { id, context_id }: Pick<TaskRecord, 'id' | 'context_id'>,
  status: WireStatus,
): StatusUpdate {
  return { statusUpdate: { taskId: id, contextId: context_id, status } }
}

/** Bodies are stored as they are printed. */
export const asMessage = ({ body }: TaskMessage): WireMessage => body as unknown as WireMessage

/** Why a task did not complete, and what it cost. */
function endMessage(task: TaskRecord): WireMessage | undefined {
  const { id, context_id, failure, charged } = task
  if (failure === null) return undefined
  const { code, class: kind, message, retryable, request_id: requestId } = failure
  const data = { code, class: kind, retryable, requestId, chargedMicros: charged ?? 0 }
  return {
    messageId: `${id}-end`,
    contextId: context_id,
    taskId: id,
    role: 'ROLE_AGENT',
    parts: [{ text: `${code}: ${message}` }, { data, mediaType: 'application/json' }],
  }
}

export type Notifying = Pick<Platform, 'engine' | 'newId' | 'clock'>

/** Of no family: an update is for the push configurations of its task, which belongs to one key. */
export const taskEvents = defineEvents([
  {
    type: 'task.updated',
    scope: IDENTIFIERS,
    description: 'The status of a task of an agent changed; sent to its push configurations alone.',
    sample: { statusUpdate: { taskId: 't_1', contextId: 'c_1', status: {} } },
    isInternal: true,
  },
])

/**
 * Enqueues the status of a task for the webhooks that receive its updates, in the unit of work that changed
 * it.
 */
export async function notifyTask(
  platform: Notifying,
  tx: PlatformTx,
  task: TaskRecord,
): Promise<void> {
  const pushes = await tx.tasks.pushes(task.id)
  if (pushes.length === 0) return
  const found = await Promise.all(
    pushes.map(({ webhook_id }) => tx.webhooks.get(task.account_id, webhook_id)),
  )
  const webhooks = found.filter((webhook) => webhook !== undefined)
  await notifyWebhooks(platform, tx, task, webhooks)
}

/** The same for webhooks that are known. */
export async function notifyWebhooks(
  { engine, newId, clock }: Notifying,
  tx: PlatformTx,
  task: TaskRecord,
  webhooks: readonly WebhookRecord[],
): Promise<void> {
  if (webhooks.length === 0) return
  const { account_id, app_id } = task
  const update = updateOf(task, await statusOf(tx.tasks, task))
  const at = clock.now()
  const created = taskEvents.newEvent(engine, account_id, 'task.updated', {}, at, app_id)
  // The body is that of the protocol, and no envelope of ours.
  const event: NewEvent = { ...created, body: Buffer.from(JSON.stringify(update)) }
  const due = event.created_at
  const deliveries = webhooks.map((webhook) => createDelivery(newId(), event, webhook, due))
  await tx.insertPublished([{ event, deliveries }])
  tx.afterCommit(() => {
    for (const { status, webhook_id } of deliveries) {
      if (status === 'pending') engine.notify({ webhook_id, account_id, due })
    }
  })
}

/** How work that an agent may have asked for goes on. */
export interface WorkChange {
  readonly state: TaskMove['state']
  readonly at: Instant
  readonly error?: Omit<TaskFailure, 'request_id'> | null
  /** Default: nothing. */
  readonly charged_micros?: number
}

/**
 * Moves the task of an edit or deployment, if an agent asked for it, in the unit of work that changes it,
 * and notifies those that it is pushed to.
 */
export async function moveTask(
  platform: Notifying,
  tx: PlatformTx,
  subjectId: string,
  { state, at, error = null, charged_micros = 0 }: WorkChange,
): Promise<void> {
  const charged = state === 'working' ? null : charged_micros
  const failure = error && failureOf(error)
  const task = await tx.tasks.move(subjectId, { state, at, failure, charged })
  if (task !== undefined) await notifyTask(platform, tx, task)
}

function failureOf({ code, class: kind, message, retryable }: NonNullable<WorkChange['error']>) {
  return { code, class: kind, message, retryable, request_id: null }
}
