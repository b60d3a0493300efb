import type { z } from 'zod'
import type { FieldError } from '../../../lib/errors.ts'
import type { Operation } from '../../family.ts'
import { httpError } from '../../errors.ts'
import { INPUT_PARSING, toFaults, unknownField } from '../../faults.ts'
import type { Step } from '../state.ts'

type Place = 'body' | 'query' | 'path'

/** Checks every part of the input; a field or parameter that is not declared is refused. */
export function validate({ input }: Operation): Step {
  return function validate(ctx, next) {
    const faults: FieldError[] = []
    const query = ctx.querystring === '' ? {} : { ...ctx.query }
    const params = ctx['params'] as unknown
    ctx.state.params = check(input.params, params, 'path', faults) as typeof ctx.state.params
    ctx.state.query = checkQuery(input.query, query, faults)
    ctx.state.body = check(input.body, ctx.state.body, 'body', faults)
    if (faults.length > 0) throw httpError('invalid_request', { errors: faults })
    return next()
  }
}

function checkQuery(
  schema: z.ZodObject | undefined,
  query: Readonly<Record<string, unknown>>,
  faults: FieldError[],
): Readonly<Record<string, unknown>> {
  if (schema !== undefined) return check(schema, query, 'query', faults) as typeof query
  for (const name of Object.keys(query)) faults.push(unknownField('query', name, []))
  return {}
}

function check(
  schema: z.ZodType | undefined,
  value: unknown,
  place: Place,
  faults: FieldError[],
): unknown {
  if (schema === undefined) return place === 'path' ? {} : undefined
  const result = schema.safeParse(value, INPUT_PARSING)
  if (result.success) return result.data
  faults.push(...result.error.issues.flatMap((issue) => toFaults(issue, place)))
  return undefined
}
