/**
 * The methods of the protocol: one table for both bindings.
 *
 * @module
 */
import { PushNotificationNotSupportedError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
import type { z } from 'zod'
import { httpError } from '../operations/errors.ts'
import { createInputReader } from '../operations/read-input.ts'
import type { A2aCall } from './call.ts'
import { readJson } from './call.ts'
import { send } from './send.ts'
import { awaitEnd, cancelTask, listTasks, printTask, requireTask } from './tasks.ts'
import {
  cardRequest,
  configRequest,
  configsRequest,
  listRequest,
  pushConfig,
  sendRequest,
  taskRequest,
} from './wire.ts'

/** Where a method is found in the binding of HTTP and JSON. */
export interface RestRoute {
  readonly verb: 'GET' | 'POST' | 'DELETE'
  /** `/tasks/{id}:cancel`: what stands in braces is a field of the request. */
  readonly path: string
  /** Default 200. */
  readonly status?: number
}

export interface Method {
  readonly rest: readonly RestRoute[]
  /**
   * @param request JSON of the request, unchecked
   * @throws KeyhookError `invalid_request`, A2AError
   */
  run(call: A2aCall, request: unknown): Promise<unknown>
}

function method<Request extends z.ZodType>(
  schema: Request,
  rest: Method['rest'],
  run: (call: A2aCall, request: z.output<Request>) => Promise<unknown>,
): Method {
  const read = createInputReader(schema)
  return {
    rest,
    run(call, request) {
      const { value, faults } = read(request, 'params')
      if (faults !== undefined) throw httpError('invalid_request', { errors: faults })
      return run(call, value)
    },
  }
}

const CONFIGS = '/tasks/{taskId}/pushNotificationConfigs'

export const METHODS = {
  SendMessage: method(
    sendRequest,
    [{ verb: 'POST', path: '/message:send' }],
    async (call, { message, configuration }) => {
      const { historyLength, returnImmediately } = configuration
      if (configuration.taskPushNotificationConfig !== undefined) noPush()
      const sent = await send(call, message)
      const task = returnImmediately ? sent : await awaitEnd(call, sent)
      return { task: await printTask(call, task, { historyLength, artifacts: true }) }
    },
  ),
  SendStreamingMessage: method(sendRequest, [{ verb: 'POST', path: '/message:stream' }], noStream),
  GetTask: method(
    taskRequest,
    [{ verb: 'GET', path: '/tasks/{id}' }],
    async (call, { id, historyLength }) =>
      printTask(call, await requireTask(call, id), { historyLength, artifacts: true }),
  ),
  ListTasks: method(listRequest, [{ verb: 'GET', path: '/tasks' }], listTasks),
  CancelTask: method(
    taskRequest,
    [{ verb: 'POST', path: '/tasks/{id}:cancel' }],
    async (call, { id }) =>
      printTask(call, await cancelTask(call, id), { historyLength: 0, artifacts: false }),
  ),
  SubscribeToTask: method(
    taskRequest,
    [
      { verb: 'POST', path: '/tasks/{id}:subscribe' },
      { verb: 'GET', path: '/tasks/{id}:subscribe' },
    ],
    noStream,
  ),
  CreateTaskPushNotificationConfig: method(
    pushConfig,
    [{ verb: 'POST', path: CONFIGS, status: 201 }],
    noPush,
  ),
  GetTaskPushNotificationConfig: method(
    configRequest,
    [{ verb: 'GET', path: `${CONFIGS}/{id}` }],
    noPush,
  ),
  ListTaskPushNotificationConfigs: method(configsRequest, [{ verb: 'GET', path: CONFIGS }], noPush),
  DeleteTaskPushNotificationConfig: method(
    configRequest,
    [{ verb: 'DELETE', path: `${CONFIGS}/{id}`, status: 204 }],
    noPush,
  ),
  GetExtendedAgentCard: method(
    cardRequest,
    [{ verb: 'GET', path: '/extendedAgentCard' }],
    async (call) => {
      const operation = call.agent.operations.find(({ id }) => id === 'discovery.agent_card')
      if (operation === undefined) {
        throw new UnsupportedOperationError({ message: 'This agent has no extended card.' })
      }
      return (await readJson(call, { operation }))['card']
    },
  ),
} as const satisfies Readonly<Record<string, Method>>

function noStream(): never {
  throw new UnsupportedOperationError({ message: 'This agent does not stream.' })
}

function noPush(): never {
  throw new PushNotificationNotSupportedError()
}
