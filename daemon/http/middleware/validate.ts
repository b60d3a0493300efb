import type { z } from 'zod'
import { unescape } from 'node:querystring'
import type { FieldError } from '../../../lib/errors.ts'
import { cutText } from '../../../lib/internal/text.ts'
import { httpError } from '../../operations/errors.ts'
import type { Operation } from '../../operations/operation.ts'
import { querySchema } from '../../operations/query.ts'
import { refusedNames } from '../../operations/faults.ts'
import type { ReadInput } from '../../operations/read-input.ts'
import { createInputReader } from '../../operations/read-input.ts'
import type { CallStep } from '../call-context.ts'
import type { RequestState } from '../state.ts'

/** Checks every part of the input, and refuses undeclared fields and parameters. */
export function validate(operation: Operation): CallStep {
  const { path, input } = operation
  const schema = querySchema(operation)
  const readPath = input.params === undefined ? readNone : createInputReader(input.params)
  const readQuery = schema === undefined ? readNoNames : createInputReader(schema)
  const readBody = input.body === undefined ? readNothing : createInputReader(input.body)
  return function validate(ctx, next) {
    const broken = brokenTexts(path, ctx.path, ctx.querystring)
    if (broken.length > 0) throw httpError('invalid_request', { errors: broken })
    const params = readPath(ctx.params, 'path')
    const query = readQuery(ctx.querystring === '' ? {} : { ...ctx.query }, 'query')
    const body = readBody(ctx.state.body, 'body')
    if (params.faults ?? query.faults ?? body.faults) {
      const errors = [params, query, body].flatMap(({ faults = [] }) => faults)
      throw httpError('invalid_request', { errors })
    }
    ctx.state.params = params.value as RequestState['params']
    ctx.state.query = query.value as RequestState['query']
    ctx.state.body = body.value
    return next()
  }
}

type Read = ReadInput<z.ZodType>

function readNone(): Read {
  return { value: {} }
}

function readNothing(): Read {
  return { value: undefined }
}

function readNoNames(value: unknown, location: string): Read {
  const faults: readonly FieldError[] = refusedNames(location, Object.keys(value as object), [])
  return faults.length > 0 ? { faults } : { value: {} }
}

/**
 * Path parameters and query with percent-encoded bytes that are not UTF-8. Routers and query parsers would
 * read something else instead.
 *
 * @param template path of the operation, such as `/v1/keys/{key_id}`
 */
function brokenTexts(template: string, path: string, query: string): readonly FieldError[] {
  if (!path.includes('%') && !query.includes('%')) return []
  const names = template.split('/')
  const inPath = path.split('/').flatMap((segment, index) => {
    const name = /^\{(\w+)\}$/.exec(names[index] ?? '')?.[1] ?? String(index)
    return isUtf8(segment) ? [] : [broken(`path.${name}`)]
  })
  const inQuery = query
    .split('&')
    .filter((pair) => !isUtf8(pair))
    .map((pair) => broken(`query.${nameOf(pair)}`))
  return [...inPath, ...inQuery]
}

/** A percent sign without two hexadecimal digits is text. */
const PLAIN_PERCENT = /%(?![\da-f]{2})/gi

function isUtf8(text: string): boolean {
  if (!text.includes('%')) return true
  try {
    decodeURIComponent(text.replaceAll(PLAIN_PERCENT, '%25'))
    return true
  } catch {
    return false
  }
}

function nameOf(pair: string): string {
  return cutText(unescape(pair.split('=', 1)[0] ?? ''), 64)
}

function broken(location: string): FieldError {
  return { location, code: 'not_unicode', message: 'Percent-encode text as UTF-8.' }
}
