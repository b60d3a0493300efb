import type { World } from '../support/world.ts'

export const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const

export type Binding = (typeof BINDINGS)[number]

type Json = Readonly<Record<string, unknown>>

/** What was answered, the same for both bindings. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** The result; undefined: it was refused. */
  readonly result: Json | undefined
  readonly error: ReplyError | undefined
  /** As it was sent. */
  readonly text: string
}

export interface ReplyError {
  /** Code of JSON-RPC, or the status of HTTP. */
  readonly code: number
  readonly message: string
  /** `data`, or `details`. */
  readonly details: readonly Json[]
}

export interface A2aClient {
  readonly binding: Binding
  ask(method: string, request?: Json, headers?: Readonly<Record<string, string>>): Promise<Reply>
}

const VERSION = { 'a2a-version': '1.0' }

/** Asks in one of the bindings, as the specification says and not as the implementation does. */
export function createA2aClient(
  { baseUrl }: Pick<World, 'baseUrl'>,
  key: string,
  binding: Binding,
): A2aClient {
  const authorization = `Bearer ${key}`
  return {
    binding,
    ask: (method, request = {}, headers = VERSION) =>
      binding === 'JSONRPC'
        ? askRpc(`${baseUrl}/a2a`, { authorization, ...headers }, method, request)
        : askRest(`${baseUrl}/a2a`, { authorization, ...headers }, method, request),
  }
}

async function askRpc(
  url: string,
  headers: Readonly<Record<string, string>>,
  method: string,
  params: Json,
): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  })
  const text = await response.text()
  const { result, error } = JSON.parse(text) as {
    result?: Json
    error?: ReplyError & { data?: Json[] }
  }
  return {
    status: response.status,
    headers: response.headers,
    result,
    error: error && { code: error.code, message: error.message, details: error.data ?? [] },
    text,
  }
}

/** Verb and path of each method, and the fields that the path has. */
const PATHS: Readonly<Record<string, readonly [verb: string, path: string]>> = {
  SendMessage: ['POST', '/message:send'],
  SendStreamingMessage: ['POST', '/message:stream'],
  GetTask: ['GET', '/tasks/{id}'],
  ListTasks: ['GET', '/tasks'],
  CancelTask: ['POST', '/tasks/{id}:cancel'],
  SubscribeToTask: ['POST', '/tasks/{id}:subscribe'],
  CreateTaskPushNotificationConfig: ['POST', '/tasks/{taskId}/pushNotificationConfigs'],
  GetTaskPushNotificationConfig: ['GET', '/tasks/{taskId}/pushNotificationConfigs/{id}'],
  ListTaskPushNotificationConfigs: ['GET', '/tasks/{taskId}/pushNotificationConfigs'],
  DeleteTaskPushNotificationConfig: ['DELETE', '/tasks/{taskId}/pushNotificationConfigs/{id}'],
  GetExtendedAgentCard: ['GET', '/extendedAgentCard'],
}

async function askRest(
  base: string,
  headers: Readonly<Record<string, string>>,
  method: string,
  request: Json,
): Promise<Reply> {
  const [verb, template] = PATHS[method] ?? ['POST', `/${method}`]
  const rest: Record<string, unknown> = { ...request }
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name])
    delete rest[name]
    return encodeURIComponent(value)
  })
  const isPost = verb === 'POST'
  const query = isPost
    ? ''
    : new URLSearchParams(
        Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)]),
      ).toString()
  const response = await fetch(`${base}${path}${query === '' ? '' : `?${query}`}`, {
    method: verb,
    headers: { ...(isPost && { 'content-type': 'application/a2a+json' }), ...headers },
    ...(isPost && { body: JSON.stringify(rest) }),
  })
  const text = await response.text()
  const body = (text === '' ? {} : JSON.parse(text)) as Json & { error?: ReplyError }
  const { error } = body
  return {
    status: response.status,
    headers: response.headers,
    result: error === undefined ? body : undefined,
    error: error && { code: error.code, message: error.message, details: error.details },
    text,
  }
}
