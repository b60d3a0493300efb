/**
 * The status of a task as agents read it (A2A 4.1, 4.2.1), wherever it is sent.
 *
 * @module
 */
import type {
  TaskMessage,
  TaskReads,
  TaskRecord,
  TaskState,
} from '../../plugins/platform/contract/tasks.ts'

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
