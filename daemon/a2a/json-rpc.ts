import type { A2aCall } from './call.ts'
import type { PrintedError } from './errors.ts'
import type { Method } from './methods.ts'
import { METHODS } from './methods.ts'

/** A response of JSON-RPC 2.0. */
export interface RpcResponse {
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

/** A request of JSON-RPC whose envelope is right. */
export interface RpcRequest {
  readonly id: RpcResponse['id']
  readonly name: string
  readonly method: Method
  readonly params: unknown
}

/** The refusal of a text that is no JSON. */
export const NOT_JSON: RpcResponse = refuse(null, -32700, 'Send one message of valid JSON.')

/** Reads the envelope; what is wrong with it is already a response. */
export function readRpc(message: unknown): RpcRequest | RpcResponse {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return refuse(null, -32600, 'Send one message, an object.')
  }
  const { jsonrpc, id, method, params = {} } = message as Readonly<Record<string, unknown>>
  const known = isId(id) ? id : null
  if (jsonrpc !== '2.0' || !isId(id) || typeof method !== 'string') {
    return refuse(
      known,
      -32600,
      'Send jsonrpc "2.0", a method, and an id that is text or a number.',
    )
  }
  const found = Object.hasOwn(METHODS, method) ? METHODS[method as keyof typeof METHODS] : undefined
  if (found === undefined) return refuse(known, -32601, 'There is no method of this name.')
  if (typeof params !== 'object' || params === null || Array.isArray(params)) {
    return refuse(known, -32602, 'The params are an object.')
  }
  return { id, name: method, method: found, params }
}

export const isRefused = (read: RpcRequest | RpcResponse): read is RpcResponse => 'jsonrpc' in read

export const runRpc = (call: A2aCall, { method, params }: RpcRequest): Promise<unknown> =>
  method.run(call, params)

export function rpcError(
  id: RpcResponse['id'],
  { rpc: code, message, details: data }: PrintedError,
): RpcResponse {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data.length > 0 && { data }) } }
}

/** A number that is written another way than it was read would not match the caller's. */
function isId(id: unknown): id is string | number {
  return (typeof id === 'string' && id.length <= 200) || Number.isSafeInteger(id)
}

function refuse(id: RpcResponse['id'], code: number, message: string): RpcResponse {
  return { jsonrpc: '2.0', id, error: { code, message } }
}
