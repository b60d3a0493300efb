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

type Headed = Readonly<Record<string, string>>

export interface A2aClient {
  readonly binding: Binding
  ask(method: string, request?: Json, headers?: Headed): Promise<Reply>
  /** Asks for a stream. */
  follow(method: string, request: Json): Promise<Followed>
}

/** A stream that is open, or the answer instead of one. */
export interface Followed {
  readonly reply: Reply | undefined
  readonly headers: Headers
  /** One event: a result, or the error that ends it. */
  next(): Promise<Reply | undefined>
  /** All that is left. */
  rest(): Promise<readonly Reply[]>
  close(): void
}

const VERSION = { 'a2a-version': '1.0' }

/** Asks in one of the bindings, as the specification says and not as the implementation does. */
export function createA2aClient(
  { baseUrl }: Pick<World, 'baseUrl'>,
  key: string,
  binding: Binding,
): A2aClient {
  const authorization = `Bearer ${key}`
  const { request: write, read } = WAYS[binding]
  const send = (
    method: string,
    request: Json,
    headers: Headed,
    signal: AbortSignal | null = null,
  ): Promise<Response> => {
    const [path, init] = write(method, request)
    const all = { ...init.headers, authorization, ...headers }
    return fetch(`${baseUrl}/a2a${path}`, { ...init, headers: all, signal })
  }
  const replyOf = (response: Response, text: string): Reply => {
    const { status, headers } = response
    return { status, headers, text, ...read(text === '' ? {} : (JSON.parse(text) as Json)) }
  }
  return {
    binding,
    async ask(method, request = {}, headers = VERSION) {
      const response = await send(method, request, headers)
      return replyOf(response, await response.text())
    },
    async follow(method, request) {
      const closing = new AbortController()
      const response = await send(method, request, VERSION, closing.signal)
      const isStream = response.headers.get('content-type') === 'text/event-stream'
      const reply = isStream ? undefined : replyOf(response, await response.text())
      const events = isStream ? eventsOf(response) : undefined
      const next = async (): Promise<Reply | undefined> => {
        const came = await events?.next()
        return came === undefined || came.done === true ? undefined : replyOf(response, came.value)
      }
      return {
        reply,
        headers: response.headers,
        next,
        async rest() {
          const all: Reply[] = []
          for (let one = await next(); one !== undefined; one = await next()) all.push(one)
          return all
        },
        close() {
          closing.abort()
        },
      }
    },
  }
}

/** The data of each event; a comment is none. */
async function* eventsOf({ body }: Response): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = block.split('\n').find((line) => line.startsWith('data: '))
      if (data !== undefined) yield data.slice(6)
    }
  }
  return undefined
}

interface Way {
  request(
    method: string,
    request: Json,
  ): [path: string, init: Omit<RequestInit, 'headers'> & { headers: Headed }]
  read(body: Json): Pick<Reply, 'result' | 'error'>
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

const WAYS: Readonly<Record<Binding, Way>> = {
  JSONRPC: {
    request: (method, params) => [
      '',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
      },
    ],
    read(body) {
      const { result, error } = body as { result?: Json; error?: ReplyError & { data?: Json[] } }
      const { code = 0, message = '', data = [] } = error ?? {}
      return { result, error: error && { code, message, details: data } }
    },
  },
  'HTTP+JSON': {
    request(method, request) {
      const [verb, template] = PATHS[method] ?? ['POST', `/${method}`]
      const rest: Record<string, unknown> = { ...request }
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        const value = String(rest[name])
        delete rest[name]
        return encodeURIComponent(value)
      })
      if (verb === 'POST') {
        const headers = { 'content-type': 'application/a2a+json' }
        return [path, { method: verb, headers, body: JSON.stringify(rest) }]
      }
      const fields = Object.entries(rest).map(([name, one]): [string, string] => [
        name,
        String(one),
      ])
      const query = new URLSearchParams(fields).toString()
      return [`${path}${query === '' ? '' : `?${query}`}`, { method: verb, headers: {} }]
    },
    read(body) {
      const { error } = body as { error?: ReplyError }
      return { result: error === undefined ? body : undefined, error }
    },
  },
}
