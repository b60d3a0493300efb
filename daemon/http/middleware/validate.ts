import type { FieldError } from '../../../lib/errors.ts'
import type { z } from 'zod'
import { httpError } from '../../operations/errors.ts'
import type { Operation } from '../../operations/operation.ts'
import { refusedNames } from '../../operations/faults.ts'
import type { ReadInput } from '../../operations/read-input.ts'
import { createInputReader } from '../../operations/read-input.ts'
import type { RequestState, Step } from '../state.ts'
import { brokenTexts } from '../url-text.ts'

/** Checks every part of the input; a field or parameter that is not declared is refused. */
export function validate({ path, input }: Operation): Step {
  const readPath = input.params === undefined ? readNone : createInputReader(input.params)
  const readQuery = input.query === undefined ? readNoNames : createInputReader(input.query)
  const readBody = input.body === undefined ? readNothing : createInputReader(input.body)
  return function validate(ctx, next) {
    const broken = brokenTexts(path, ctx.path, ctx.querystring)
    if (broken.length > 0) throw httpError('invalid_request', { errors: broken })
    const query = ctx.querystring === '' ? {} : { ...ctx.query }
    const read = {
      params: readPath(ctx['params'], 'path'),
      query: readQuery(query, 'query'),
      body: readBody(ctx.state.body, 'body'),
    }
    const faults = Object.values(read).flatMap((part) => part.faults ?? [])
    if (faults.length > 0) throw httpError('invalid_request', { errors: faults })
    ctx.state.params = read.params.value as RequestState['params']
    ctx.state.query = read.query.value as RequestState['query']
    ctx.state.body = read.body.value
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

function readNoNames(value: unknown, place: string): Read {
  const faults: readonly FieldError[] = refusedNames(place, Object.keys(value as object), [])
  return faults.length > 0 ? { faults } : { value: {} }
}
