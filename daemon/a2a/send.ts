import { KeyhookError } from '../../lib/errors.ts'
import type { TaskRecord } from '../../plugins/platform/contract/tasks.ts'
import { pinsOf } from '../authority/principal.ts'
import { pauseFor } from '../families/polling.ts'
import { httpError } from '../operations/errors.ts'
import { lastApp, namedApps } from './apps.ts'
import type { A2aCall } from './call.ts'
import { skillsFor } from './call.ts'
import { a2aError } from './errors.ts'
import { fingerprintOf } from './messages.ts'
import type { Place } from './run-message.ts'
import { runMessage } from './run-message.ts'
import { requireTask } from './tasks.ts'
import { understand } from './understand.ts'
import type { Message } from './wire.ts'
import { ProtocolError } from './protocol-errors.ts'

const LOOKS = 40
const LOOK_EVERY = 250

/**
 * The task of a message: a new one, the one that it answers, or the one that the same message made before.
 *
 * @throws KeyhookError `message_id_reused` for other words under the id of another message
 */
export async function send(call: A2aCall, message: Message): Promise<TaskRecord> {
  const fingerprint = await fingerprintOf(message)
  for (let looks = 1; ; looks++) {
    const known = await findSent(call, message, fingerprint)
    if (known !== undefined) return known
    try {
      const task = await begin(call, message, fingerprint)
      if (task !== undefined) return task
    } catch (cause) {
      if (looks === LOOKS || !isRepeated(cause)) throw cause
    }
    if (looks === LOOKS) throw httpError('idempotency_in_progress')
    await pauseFor(call.platform.clock, LOOK_EVERY, call.left)
  }
}

/** Of two that send one message at once, the other one began it. */
function isRepeated(cause: unknown): boolean {
  const codes = ['message_id_reused', 'idempotency_in_progress']
  return cause instanceof KeyhookError && codes.includes(cause.code)
}

async function findSent(
  { platform, principal }: A2aCall,
  { messageId, taskId }: Message,
  fingerprint: string,
): Promise<TaskRecord | undefined> {
  const sent = await platform.store.tasks.sent(principal.key.id, messageId, taskId)
  if (sent === undefined) return undefined
  if (sent.message.fingerprint !== fingerprint) throw a2aError('message_id_reused')
  return sent.task
}

/** Undefined, changing nothing, when the message was taken meanwhile. */
async function begin(
  call: A2aCall,
  message: Message,
  fingerprint: string,
): Promise<TaskRecord | undefined> {
  const place = await placeOf(call, message, fingerprint)
  const { before } = place
  const understood = await understand(message, before, {
    skills: skillsFor(call),
    pins: pinsOf(call.principal),
    lastApp: () => lastApp(call, place.task.context_id),
    apps: (isNeeded) => namedApps(call, isNeeded),
  })
  const isMade = await runMessage(place, understood)
  return isMade ? call.platform.store.tasks.get(call.principal.key.id, place.task.id) : undefined
}

/** @throws ProtocolError `UNSUPPORTED_OPERATION` for a task that asks for nothing */
async function placeOf(call: A2aCall, message: Message, fingerprint: string): Promise<Place> {
  const { platform } = call
  const { taskId, contextId } = message
  if (taskId === '') {
    const task = { id: platform.newId(), context_id: contextId || platform.newId() }
    return { call, message, fingerprint, task, before: undefined, number: 1 }
  }
  const before = await requireTask(call, taskId)
  if (contextId !== '' && contextId !== before.context_id) throw otherContext()
  if (before.state !== 'input_required') {
    throw new ProtocolError(
      'UNSUPPORTED_OPERATION',
      'The task asks for no input. Cancel it, wait, or begin a new one.',
    )
  }
  const [last] = await platform.store.tasks.messages(taskId, 1)
  return { call, message, fingerprint, task: before, before, number: (last?.number ?? 0) + 1 }
}

function otherContext(): KeyhookError {
  return httpError('invalid_request', {
    errors: [
      {
        location: 'message.contextId',
        code: 'invalid_value',
        message: 'The task belongs to another context. Leave it out, or send that of the task.',
      },
    ],
  })
}
