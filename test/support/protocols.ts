/**
 * Requests of REST as calls of the other protocols, by the wire alone: the same key, the same operation, the
 * same input.
 *
 * @module
 */
import { toolsOf } from '../../daemon/agents/tools.ts'
import type { ToolSpec } from '../../daemon/agents/tools.ts'
import { FAMILIES, errorRows } from '../../daemon/families/index.ts'
import type { Family } from '../../daemon/operations/family.ts'
import { message, sendMcp } from './mcp.ts'
import type { Answer, AnyBody, Asking, World } from './world.ts'

/** A call of a tool. */
export interface ToolCall {
  readonly tool: ToolSpec
  readonly args: AnyBody
}

/** Asks over another protocol; undefined where it has no such call. */
export type AskOver = (
  world: Pick<World, 'baseUrl' | 'request'>,
  method: string,
  path: string,
  asking: Asking,
) => Promise<Answer<AnyBody> | undefined>

/** Finds the tool that does what a request asks for, with its arguments. */
export function createCallFinder(
  families: readonly Family[],
): (method: string, path: string, body: unknown) => ToolCall | undefined {
  const tools = toolsOf(families).map((tool) => ({ tool, pattern: patternOf(tool) }))
  return (method, path, body) => {
    const [at = '', query = ''] = path.split('?', 2)
    for (const { tool, pattern } of tools) {
      const found = tool.operation.method === method ? pattern.exec(at) : null
      if (found === null) continue
      const params = Object.entries({ ...found.groups }).map(
        ([name, value]) => [name, decodeURIComponent(value)] as const,
      )
      return withArguments(tool, [...params, ...new URLSearchParams(query)], body)
    }
    return undefined
  }
}

function patternOf({ operation: { path } }: ToolSpec): RegExp {
  return new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

/** Undefined for what one flat object cannot say: another body, and two values of one name. */
function withArguments(
  tool: ToolSpec,
  around: readonly (readonly [string, string])[],
  body: unknown,
): ToolCall | undefined {
  const isWhole = tool.args.some(({ place }) => place === 'whole')
  if (isWhole) return { tool, args: { ...Object.fromEntries(around), body } }
  if (body !== undefined && !isObject(body)) return undefined
  const members = Object.entries(body ?? {})
  const names = [...around, ...members].map(([name]) => name)
  if (new Set(names).size < names.length) return undefined
  return { tool, args: Object.fromEntries([...around, ...members]) }
}

const isObject = (value: unknown): value is AnyBody =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The same call over MCP. Its answer is what REST would say: a status, and a body. */
export function overMcp(families: readonly Family[]): AskOver {
  const find = createCallFinder(families)
  return async (world, method, path, { as, body, form, headers }) => {
    const call = find(method, path, body)
    if (typeof as !== 'string' || call === undefined) return undefined
    if (form !== undefined || headers !== undefined) return undefined
    return callTool(world, as, call)
  }
}

/** Ways to call a tool: of the newest revision, of an earlier one, and by the tools that reach every operation. */
export const WAYS = ['newest', 'earlier', 'api'] as const

export type Way = (typeof WAYS)[number]

/** @param query which tools are chosen; default: all of them */
export async function callTool(
  world: Pick<World, 'baseUrl'>,
  key: string,
  { tool, args }: ToolCall,
  { way = 'newest', query = '?toolsets=all' }: { way?: Way; query?: string } = {},
): Promise<Answer<AnyBody>> {
  const isRead = tool.listed.annotations.readOnlyHint
  const called =
    way === 'api'
      ? {
          name: isRead ? 'api_read' : 'api_write',
          arguments: { name: tool.name, arguments: args },
        }
      : { name: tool.name, arguments: args }
  const newest = message('tools/call', called)
  const { body, headers } = way === 'earlier' ? earlier(called) : newest
  const chosen = way === 'api' ? '?toolsets=api' : query
  const sent = await sendMcp(world, key, body, { headers, query: chosen })
  const answer = parse(sent.text)
  if (sent.status !== 200) return { ...sent, body: answer }
  const { result } = answer as { readonly result?: ToolResult }
  if (result === undefined) throw new Error(`${tool.name}: ${sent.text}`)
  const { isError = false, content, structuredContent = {}, _meta } = result
  const status = Number(_meta['keyhook/status'])
  const text = content[0]?.text ?? ''
  return { status, headers: sent.headers, body: isError ? parse(text) : structuredContent }
}

function earlier(params: AnyBody) {
  return {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    headers: { 'mcp-protocol-version': '2025-06-18' },
  }
}

interface ToolResult {
  readonly isError?: boolean
  readonly content: readonly { readonly text?: string }[]
  readonly structuredContent?: AnyBody
  readonly _meta: AnyBody
}

/** JSON, or the last event of a stream. */
function parse(text: string): AnyBody {
  const last = text.startsWith('{') ? text : /.*^data: (\{.*\})$/ms.exec(text)?.[1]
  return JSON.parse(last ?? '{}') as AnyBody
}

/**
 * The same call over A2A where it is a skill. Any other is let in by A2A first, which tells whose key has ended,
 * and asked over REST then.
 *
 * @throws Error when A2A refuses what REST does not, or lets in whom REST does not
 */
export function overA2a(families: readonly Family[]): AskOver {
  const find = createCallFinder(families)
  return async (world, method, path, asking) => {
    const { as, body, form, headers } = asking
    if (typeof as !== 'string' || headers !== undefined) return undefined
    const call = form === undefined ? find(method, path, body) : undefined
    const isSkill = call?.tool.use.skill !== undefined
    const answer = isSkill
      ? await sendSkill(world, as, call)
      : await askRpc(world, as, 'ListTasks', { pageSize: 1 })
    if (answer.status === 401) return answer
    if (isSkill && !isNotOffered(answer)) return answer
    const own = await world.request(method, path, asking)
    const isSame = isSkill ? own.status === 403 : own.status !== 401
    if (!isSame) throw new Error(`${method} ${path}: A2A says ${JSON.stringify(answer.body)}`)
    return own
  }
}

/** A skill that the key may not ask for is not among those that it is offered. */
export function isNotOffered({ body }: Answer<AnyBody>): boolean {
  const { error } = body as { readonly error?: { readonly fields?: readonly string[] } }
  return error?.fields?.includes('message.metadata.skill') === true
}

let sent = 0

/** Sends a skill's input as data, and says what became of its task as REST would. */
export async function sendSkill(
  world: Pick<World, 'baseUrl'>,
  key: string,
  { tool, args }: ToolCall,
  messageId = `message-${process.pid}-${sent++}`,
): Promise<Answer<AnyBody>> {
  const metadata = { skill: tool.name }
  const asked = { messageId, role: 'ROLE_USER', parts: [{ data: args }], metadata }
  const configuration = { returnImmediately: true }
  const answer = await askRpc(world, key, 'SendMessage', { message: asked, configuration })
  const { task } = answer.body as { readonly task?: Task }
  if (task === undefined) return answer
  const code = failureOf(task)
  if (code !== undefined) return { ...answer, status: ROWS[code]?.status ?? 0, body: fail(code) }
  const body = task.artifacts?.[0]?.parts[0]?.data ?? {}
  return { ...answer, status: tool.operation.status ?? 200, body: { ...body, task } }
}

const ROWS = errorRows(FAMILIES)

interface Task {
  readonly status: {
    readonly state: string
    readonly message?: { readonly parts: readonly { readonly data?: AnyBody }[] }
  }
  readonly artifacts?: readonly { readonly parts: readonly { readonly data?: AnyBody }[] }[]
}

function failureOf({ status: { state, message: said } }: Task): string | undefined {
  if (state !== 'TASK_STATE_REJECTED' && state !== 'TASK_STATE_FAILED') return undefined
  const code = said?.parts.find(({ data }) => data?.['code'] !== undefined)?.data?.['code']
  return String(code)
}

const fail = (code: string): AnyBody => ({ error: { code } })

/** One request of A2A by JSON-RPC; refusals are those that REST has. */
export async function askRpc(
  { baseUrl }: Pick<World, 'baseUrl'>,
  key: string,
  method: string,
  params: AnyBody,
): Promise<Answer<AnyBody>> {
  const response = await fetch(`${baseUrl}/a2a`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'a2a-version': '1.0',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { status, headers } = response
  const body = (await response.json()) as AnyBody
  const { result = {}, error } = body as { readonly result?: AnyBody; readonly error?: RpcError }
  if (status !== 200) return { status, headers, body }
  if (error === undefined) return { status, headers, body: result }
  const { data: [{ metadata = {} } = {}, { fieldViolations = [] } = {}] = [] } = error
  const { code = error.message } = metadata
  const fields = fieldViolations.map(({ field }) => field)
  const known = ROWS[code]?.status ?? STATUSES[error.code] ?? 400
  return { status: known, headers, body: { error: { code, fields } } }
}

interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: readonly {
    readonly metadata?: { readonly code?: string }
    readonly fieldViolations?: readonly { readonly field: string }[]
  }[]
}

/** Statuses of errors that are not those of an operation. */
const STATUSES: Readonly<Record<number, number>> = { [-32010]: 403, [-32011]: 429, [-32603]: 500 }

/** A world whose keys ask over another protocol wherever it has the call; `note` is told of each. */
export function speakOver(
  { request, ...world }: World,
  ask: AskOver,
  note: (method: string, path: string) => void,
): World['request'] {
  const over: World['request'] = async <Body>(
    method: string,
    path: string,
    asking: Asking = {},
  ) => {
    const answer = await ask({ ...world, request }, method, path, asking)
    if (answer === undefined) return request<Body>(method, path, asking)
    note(method, path)
    return answer as Answer<Body>
  }
  return over
}
