import type { TaskMessage, TaskRecord } from '../../plugins/platform/contract/tasks.ts'
import { httpError } from '../operations/errors.ts'
import type { A2aCall } from './call.ts'
import { a2aError } from './errors.ts'
import type { WireMessage, WirePart } from '../jobs/tasks.ts'
import type { Message } from './wire.ts'

const MAX_MESSAGES = 20
const MAX_BYTES = 256 * 1024

/** Names a message and what it says, whatever the connection or binding. */
export async function fingerprintOf(message: Message): Promise<string> {
  const { messageId, role, parts, contextId, taskId, metadata = {} } = message
  const text = JSON.stringify([messageId, role, parts, contextId, taskId, metadata])
  const digest = await crypto.subtle.digest('SHA-256', Buffer.from(text))
  return Buffer.from(digest).toString('base64url')
}

/** The place of what is said next. */
export interface Turn {
  readonly call: Pick<A2aCall, 'principal' | 'platform'>
  readonly task: Pick<TaskRecord, 'id' | 'context_id'>
  /** Number of the message. */
  readonly number: number
}

/**
 * The row of a message of the caller's.
 *
 * @throws KeyhookError for one that is too large, and after the last of a task
 */
export function received(
  { call: { principal, platform }, task, number }: Turn,
  message: Message,
  fingerprint: string,
): TaskMessage {
  const { messageId, role, parts, metadata, extensions, referenceTaskIds, taskId } = message
  const body = {
    messageId,
    contextId: task.context_id,
    taskId: task.id,
    role,
    parts,
    ...(metadata && { metadata }),
    ...(extensions && { extensions }),
    ...(referenceTaskIds && { referenceTaskIds }),
  }
  if (Buffer.byteLength(JSON.stringify(body)) > MAX_BYTES) {
    throw httpError('payload_too_large', { details: { limit_bytes: MAX_BYTES } })
  }
  if (number > MAX_MESSAGES) throw a2aError('too_many_messages')
  return {
    task_id: task.id,
    number,
    key_id: principal.key.id,
    message_id: messageId,
    role: 'user',
    fingerprint,
    body,
    at: platform.clock.now(),
    about: taskId,
    stands: true,
  }
}

/** The row of a message of the agent's, after that of the caller. */
export function replied(
  { call: { principal, platform }, task, number }: Turn,
  parts: readonly WirePart[],
): TaskMessage {
  const message_id = platform.newId()
  const body: WireMessage = {
    messageId: message_id,
    contextId: task.context_id,
    taskId: task.id,
    role: 'ROLE_AGENT',
    parts,
  }
  return {
    task_id: task.id,
    number: number + 1,
    key_id: principal.key.id,
    message_id,
    role: 'agent',
    fingerprint: '',
    body: { ...body },
    at: platform.clock.now(),
    about: task.id,
    stands: false,
  }
}
