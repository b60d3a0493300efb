/**
 * The methods of the protocol: one table for both bindings.
 *
 * @module
 */
import type { z } from 'zod'
import { KeyhookError } from '../../lib/errors.ts'
import type { TaskRecord } from '../../plugins/platform/contract/tasks.ts'
import { httpError } from '../operations/errors.ts'
import { createInputReader } from '../operations/read-input.ts'
import type { A2aCall } from './call.ts'
import { readJson } from './call.ts'
import { deletePush, getPush, judgePush, listPushes, putPush } from './push.ts'
import { refreshTask } from './refresh.ts'
import { send } from './send.ts'
import { isFinal, isUnderWay } from './states.ts'
import { awaitEnd, cancelTask, listTasks, printTask, requireTask } from './tasks.ts'
import type { Message, PushConfig } from './wire.ts'
import type { TaskUpdates } from './updates.ts'
import { followTask } from './updates.ts'
import {
  cardRequest,
  configRequest,
  configsRequest,
  listRequest,
  pushRequest,
  sendRequest,
  taskRequest,
  withoutNulls,
} from './wire.ts'
import { ProtocolError } from './protocol-errors.ts'

/** Where a method is found in the binding of HTTP and JSON. */
export interface RestRoute {
  readonly verb: 'GET' | 'POST' | 'DELETE'
  /** `/tasks/{id}:cancel`: what stands in braces is a field of the request. */
  readonly path: string
  /** Default 200. */
  readonly status?: number
}

/** What a method says: its result now or after a wait, or the updates of a task. */
export type Answer =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'later'; wait(): Promise<unknown> }
  | { readonly kind: 'updates'; readonly updates: TaskUpdates }

export interface Method {
  readonly rest: readonly RestRoute[]
  /** Whether it answers with updates. */
  readonly streams: boolean
  /**
   * @param request JSON of the request, unchecked
   * @throws KeyhookError `invalid_request`, A2AError
   */
  run(call: A2aCall, request: unknown): Promise<Answer>
}

type Work<Request extends z.ZodType, Result> = (
  call: A2aCall,
  request: z.output<Request>,
) => Promise<Result>

/** A method that answers once. */
function single<Request extends z.ZodType>(
  schema: Request,
  rest: Method['rest'],
  work: Work<Request, unknown>,
): Method {
  return answering(schema, rest, false, async (call, request) => ({
    kind: 'result',
    result: await work(call, request),
  }))
}

function streamed<Request extends z.ZodType>(
  schema: Request,
  rest: Method['rest'],
  work: Work<Request, TaskUpdates>,
): Method {
  return answering(schema, rest, true, async (call, request) => ({
    kind: 'updates',
    updates: await work(call, request),
  }))
}

function answering<Request extends z.ZodType>(
  schema: Request,
  rest: Method['rest'],
  streams: boolean,
  work: Work<Request, Answer>,
): Method {
  const read = createInputReader(schema)
  return {
    rest,
    streams,
    async run(call, request) {
      const { value, faults } = read(withoutNulls(request), 'params')
      if (faults !== undefined) throw httpError('invalid_request', { errors: faults })
      return work(call, value)
    },
  }
}

const CONFIGS = '/tasks/{taskId}/pushNotificationConfigs'

export const METHODS = {
  SendMessage: answering(
    sendRequest,
    [{ verb: 'POST', path: '/message:send' }],
    false,
    async (call, { message, configuration }) => {
      const { historyLength, returnImmediately, taskPushNotificationConfig } = configuration
      const task = await sendAndPush(call, message, taskPushNotificationConfig)
      return begun(call, task, returnImmediately, historyLength)
    },
  ),
  SendStreamingMessage: streamed(
    sendRequest,
    [{ verb: 'POST', path: '/message:stream' }],
    async (call, { message, configuration: { historyLength, taskPushNotificationConfig } }) => {
      const task = await sendAndPush(call, message, taskPushNotificationConfig)
      return followTask(call, task, { historyLength, artifacts: true }, 'asked')
    },
  ),
  GetTask: single(
    taskRequest,
    [{ verb: 'GET', path: '/tasks/{id}' }],
    async (call, { id, historyLength }) => {
      const task = await refreshTask(call, await requireTask(call, id))
      return printTask(call, task, { historyLength, artifacts: true })
    },
  ),
  ListTasks: single(listRequest, [{ verb: 'GET', path: '/tasks' }], listTasks),
  CancelTask: single(
    taskRequest,
    [{ verb: 'POST', path: '/tasks/{id}:cancel' }],
    async (call, { id }) =>
      printTask(call, await cancelTask(call, id), { historyLength: 0, artifacts: false }),
  ),
  SubscribeToTask: streamed(
    taskRequest,
    [
      { verb: 'POST', path: '/tasks/{id}:subscribe' },
      { verb: 'GET', path: '/tasks/{id}:subscribe' },
    ],
    async (call, { id, historyLength }) => {
      const task = await requireTask(call, id)
      if (isFinal(task.state)) {
        throw new ProtocolError('UNSUPPORTED_OPERATION', 'The task has ended. Read it by GetTask.')
      }
      return followTask(call, task, { historyLength, artifacts: true }, 'subscribed')
    },
  ),
  CreateTaskPushNotificationConfig: single(
    pushRequest,
    [{ verb: 'POST', path: CONFIGS, status: 201 }],
    async (call, { taskId, id, ...wanted }) =>
      putPush(call, await requireTask(call, taskId), {
        ...wanted,
        id: id || call.platform.newId(),
      }),
  ),
  GetTaskPushNotificationConfig: single(
    configRequest,
    [{ verb: 'GET', path: `${CONFIGS}/{id}` }],
    (call, { taskId, id }) => getPush(call, taskId, id),
  ),
  ListTaskPushNotificationConfigs: single(
    configsRequest,
    [{ verb: 'GET', path: CONFIGS }],
    (call, { taskId }) => listPushes(call, taskId),
  ),
  DeleteTaskPushNotificationConfig: single(
    configRequest,
    [{ verb: 'DELETE', path: `${CONFIGS}/{id}`, status: 204 }],
    (call, { taskId, id }) => deletePush(call, taskId, id),
  ),
  GetExtendedAgentCard: single(
    cardRequest,
    [{ verb: 'GET', path: '/extendedAgentCard' }],
    async (call) => {
      const operation = call.agent.operations.find(({ id }) => id === 'discovery.agent_card')
      if (operation === undefined) {
        throw new ProtocolError('UNSUPPORTED_OPERATION', 'This agent has no extended card.')
      }
      return (await readJson(call, { operation }))['card']
    },
  ),
} as const satisfies Readonly<Record<string, Method>>

/** Nothing of the request is kept by what waits. */
async function begun(
  call: A2aCall,
  sent: TaskRecord,
  isImmediate: boolean,
  historyLength: number | undefined,
): Promise<Answer> {
  const show = async (task: TaskRecord) => ({
    task: await printTask(call, task, { historyLength, artifacts: true }),
  })
  return isImmediate || !isUnderWay(sent.state)
    ? { kind: 'result', result: await show(sent) }
    : { kind: 'later', wait: async () => show(await awaitEnd(call, sent)) }
}

/**
 * A configuration is judged before the work begins, which is pushed from then on. One that is refused only
 * afterwards, because others took the room, leaves the task without it.
 */
async function sendAndPush(
  call: A2aCall,
  message: Message,
  wanted: PushConfig | undefined,
): Promise<TaskRecord> {
  if (wanted === undefined) return send(call, message)
  await judgePush(call, message, wanted)
  const task = await send(call, message)
  try {
    await putPush(call, task, { ...wanted, id: wanted.id || task.id })
  } catch (cause) {
    // The work may be paid for: its caller needs the id of the task, and finds no configuration there.
    if (!(cause instanceof KeyhookError)) throw cause
  }
  return task
}
