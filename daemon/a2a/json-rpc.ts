import type { RequestContext } from '../http/state.ts'
import type { Binding } from './binding.ts'
import { retryLater } from './binding.ts'
import type { PrintedError } from './errors.ts'
import type { Method } from './methods.ts'
import { METHODS } from './methods.ts'

/** A response of JSON-RPC 2.0. */
interface RpcResponse {
  readonly jsonrpc: '2.0'
  readonly id: string | number | null
  readonly result?: unknown
  readonly error?: RpcError
}

interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: readonly object[]
}

/** JSON-RPC 2.0 (section 9): every answer has the status 200. */
export const RPC: Binding = {
  read(ctx) {
    const read = readRpc(ctx.state.body)
    if (isRefused(read)) {
      send(ctx, read)
      return undefined
    }
    const { id, method } = read
    const success = (result: unknown): RpcResponse => ({ jsonrpc: '2.0', id, result })
    return {
      method,
      begin: (call) => method.run(call, paramsOf(ctx.state.body)),
      result: (result) => {
        send(ctx, success(result ?? null))
      },
      refuse: (error) => {
        send(ctx, failure(id, retryLater(ctx, error)))
      },
      event: (response) => `data: ${JSON.stringify(success(response))}\n\n`,
      lastEvent: (error) => `data: ${JSON.stringify(failure(id, error))}\n\n`,
    }
  },
  refuse(ctx, error) {
    const isNoJson = error.details[0]?.['reason'] === 'INVALID_JSON'
    send(ctx, isNoJson ? NOT_JSON : failure(null, retryLater(ctx, error)))
  },
}

function send(ctx: RequestContext, response: RpcResponse): void {
  ctx.status = 200
  ctx.set('Content-Type', 'application/json')
  ctx.body = JSON.stringify(response)
}

/** The refusal of a text that is no JSON. */
const NOT_JSON = refusal(null, -32700, 'Send one message of valid JSON.')

/** A request whose envelope is right. */
interface RpcRequest {
  readonly id: string | number
  readonly name: string
  readonly method: Method
}

export const isRefused = (read: RpcRequest | RpcResponse): read is RpcResponse => 'jsonrpc' in read

/** Reads the envelope; what is wrong with it is already a response. */
export function readRpc(message: unknown): RpcRequest | RpcResponse {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return refusal(null, -32600, 'Send one message, an object.')
  }
  const { jsonrpc, id, method } = message as Readonly<Record<string, unknown>>
  const known = isId(id) ? id : null
  if (jsonrpc !== '2.0' || !isId(id) || typeof method !== 'string') {
    return refusal(
      known,
      -32600,
      'Send jsonrpc "2.0", a method, and an id that is text or a number.',
    )
  }
  const found = Object.hasOwn(METHODS, method) ? METHODS[method as keyof typeof METHODS] : undefined
  if (found === undefined) return refusal(known, -32601, 'There is no method of this name.')
  const params = paramsOf(message)
  if (typeof params !== 'object' || params === null || Array.isArray(params)) {
    return refusal(known, -32602, 'The params are an object.')
  }
  return { id, name: method, method: found }
}

function paramsOf(message: unknown): unknown {
  const { params = {} } = message as { readonly params?: unknown }
  return params
}

function failure(
  id: RpcResponse['id'],
  { rpc: code, message, details: data }: PrintedError,
): RpcResponse {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data.length > 0 && { data }) } }
}

/** A number that is written another way than it was read would not match the caller's. */
function isId(id: unknown): id is string | number {
  return (typeof id === 'string' && id.length <= 200) || Number.isSafeInteger(id)
}

function refusal(id: RpcResponse['id'], code: number, message: string): RpcResponse {
  return { jsonrpc: '2.0', id, error: { code, message } }
}
