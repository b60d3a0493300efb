import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** What a test needs of any client. */
export interface McpClient {
  listTools(): Promise<{ readonly tools: readonly ListedTool[] }>
  callTool(name: string, args?: Record<string, unknown>, options?: Calling): Promise<CalledTool>
  listResources(): Promise<{ readonly resources: readonly ListedResource[] }>
  listResourceTemplates(): Promise<{
    readonly resourceTemplates: readonly { readonly uriTemplate: string; readonly name: string }[]
  }>
  readResource(uri: string): Promise<{ readonly contents: readonly ReadContent[] }>
  listPrompts(): Promise<{ readonly prompts: readonly ListedPrompt[] }>
  /** Its text. */
  getPrompt(name: string, args?: Record<string, string>): Promise<string>
  close(): Promise<void>
}

export interface Calling {
  readonly onprogress?: (progress: {
    readonly progress: number
    readonly message?: string | undefined
  }) => void
  readonly signal?: AbortSignal
}

export interface ListedResource {
  readonly uri: string
  readonly name: string
  readonly mimeType?: string | undefined
}

export interface ReadContent {
  readonly uri: string
  readonly mimeType?: string | undefined
  readonly text?: string
  readonly blob?: string
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

export interface ListedPrompt {
  readonly name: string
  readonly arguments?:
    | readonly { readonly name: string; readonly required?: boolean | undefined }[]
    | undefined
}

export interface ListedTool {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema: { readonly properties?: object | undefined }
  readonly outputSchema?: unknown
  readonly annotations?: unknown
}

export interface CalledTool {
  readonly isError: boolean
  /** Texts of the blocks. */
  readonly texts: readonly string[]
  readonly structured: Readonly<Record<string, unknown>> | undefined
  readonly meta: Readonly<Record<string, unknown>>
}

interface Served {
  readonly baseUrl: string
}

type Connect = (world: Served, key: string, query?: string) => Promise<McpClient>

const INFO = { name: 'a test', version: '1.0.0' }

/** A client of the official library at its newest revision, or as one of 2025. */
function second(mode: 'auto' | 'legacy'): Connect {
  return async ({ baseUrl }, key, query = '') => {
    const client = new Client(INFO, { versionNegotiation: { mode } })
    const requestInit = { headers: { authorization: `Bearer ${key}` } }
    const url = new URL(`${baseUrl}/mcp${query}`)
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
    return {
      ...others(client),
      callTool: async (name, args = {}, options = {}) =>
        toCalled(await client.callTool({ name, arguments: args }, options)),
    }
  }
}

/** A client of the first library, which asks for its newest revision first. */
const first: Connect = (world, key, query) => connectFirst(world, key, query, fetch)

/** The same, of a year before: it asks for an older one. */
const firstOfJune: Connect = (world, key, query) =>
  connectFirst(world, key, query, (url, init) => {
    const { body } = init ?? {}
    const asked = typeof body === 'string' ? body.replaceAll('2025-11-25', '2025-06-18') : body
    return fetch(url, { ...init, ...(asked && { body: asked }) })
  })

async function connectFirst(
  { baseUrl }: Served,
  key: string,
  query = '',
  send: typeof fetch,
): Promise<McpClient> {
  const client = new FirstClient(INFO)
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  const options = { requestInit, fetch: send }
  const transport = new FirstTransport(new URL(`${baseUrl}/mcp${query}`), options)
  await client.connect(transport as Parameters<FirstClient['connect']>[0])
  return {
    ...others(client),
    callTool: async (name, args = {}, options = {}) =>
      toCalled(await client.callTool({ name, arguments: args }, undefined, options)),
  }
}

/** What both libraries call the same. */
function others(client: Client | FirstClient): Omit<McpClient, 'callTool'> {
  return {
    listTools: () => client.listTools(),
    listResources: () => client.listResources(),
    listResourceTemplates: () => client.listResourceTemplates(),
    readResource: (uri) => client.readResource({ uri }) as ReturnType<McpClient['readResource']>,
    listPrompts: () => client.listPrompts(),
    async getPrompt(name, args = {}) {
      const { messages } = await client.getPrompt({ name, arguments: args })
      return messages.map(({ content }) => ('text' in content ? content.text : '')).join('\n')
    },
    close: () => client.close(),
  }
}

function toCalled(result: Readonly<Record<string, unknown>>): CalledTool {
  const { content, structuredContent, isError, _meta } = result
  return {
    isError: isError === true,
    texts: (content as readonly { readonly text?: string }[]).map(({ text = '' }) => text),
    structured: structuredContent as CalledTool['structured'],
    meta: (_meta ?? {}) as CalledTool['meta'],
  }
}

/** The clients that people use, by name. */
export const MCP_CLIENTS: Readonly<Record<string, Connect>> = {
  'the client of 2026': second('auto'),
  'the client of 2026 as one of 2025': second('legacy'),
  'the client of 2025': first,
  'the client of 2025, in June': firstOfJune,
}

export const connectMcp: Connect = second('auto')

/** Sends one message as it is, and reads the whole response. */
export async function sendMcp(
  served: Served,
  key: string | null,
  body: unknown,
  sent: SentMcp = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }> {
  const response = await openMcp(served, key, body, sent)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Sends one message as it is. */
export function openMcp(
  { baseUrl }: Served,
  key: string | null,
  body: unknown,
  { headers = {}, method = 'POST', query = '', signal = null }: SentMcp = {},
): Promise<Response> {
  return fetch(`${baseUrl}/mcp${query}`, {
    method,
    signal,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
  })
}

export interface SentMcp {
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  readonly query?: string
  readonly signal?: AbortSignal | null
}

/** A message of the newest revision, with the headers that repeat it. */
export function message(method: string, params: Readonly<Record<string, unknown>> = {}) {
  const name = params['name'] ?? params['uri']
  return {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': INFO,
          'io.modelcontextprotocol/clientCapabilities': {},
          ...(params['_meta'] as object | undefined),
        },
      },
    },
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
  }
}
