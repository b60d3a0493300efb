import { z } from 'zod'
import type { ZodOpenApiParameters } from 'zod-openapi'
import type { Operation } from '../operations/operation.ts'
import { querySchema } from '../operations/query.ts'

const IDEMPOTENCY_KEY = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/)
  .meta({
    description:
      'Any text of yours: a repeated request with it has its effect once, and gets the first response. Kept 24 h.',
  })

const ACCOUNT = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/)
  .optional()
  .meta({
    description: 'For the operator: the account to act for.',
  })

const IF_NONE_MATCH = z.string().optional().meta({
  description: 'ETag of the response that you have: 304 while it is the same.',
})

const RANGE = z.string().optional().meta({ description: 'The wanted part, such as bytes=0-1023.' })

/** Everything of a request but its body. */
export function parametersOf(operation: Operation): ZodOpenApiParameters {
  const query = querySchema(operation)
  const { params } = operation.input
  const headers = headersOf(operation)
  return {
    ...(params === undefined ? {} : { path: params }),
    ...(query === undefined ? {} : { query }),
    ...(Object.keys(headers).length === 0 ? {} : { header: z.object(headers) }),
  }
}

/** As `idempotencyOf`, the resolver of principals and the conditions of files read them. */
function headersOf({ method, access, effect, idempotency, cache }: Operation): z.ZodRawShape {
  const isRepeatable = method === 'POST' && access !== 'public' && effect !== 'read'
  const isForAccount = typeof access === 'object' || access === 'owner' || access === 'operator'
  const key = idempotency === 'required' ? IDEMPOTENCY_KEY : IDEMPOTENCY_KEY.optional()
  return {
    ...(isRepeatable ? { 'Idempotency-Key': key } : {}),
    ...(isForAccount ? { 'Keyhook-Account': ACCOUNT } : {}),
    ...(effect === 'bytes' || cache !== undefined ? { 'If-None-Match': IF_NONE_MATCH } : {}),
    ...(effect === 'bytes' ? { Range: RANGE } : {}),
  }
}
