/**
 * Size limits of errors. An error may repeat the caller's input, so its size must not depend on it.
 *
 * @module
 */
import { utf8 } from './bytes.ts'
import { cutText } from './text.ts'

/** One error in the input. */
export interface FieldError {
  /** Such as `body.scopes[2]`. */
  readonly location: string
  readonly code: string
  readonly message: string
}

export const MAX_ERRORS = 50
/** Bytes of all errors as JSON; with the details and the message they are below 64 KiB. */
const MAX_ERRORS_BYTES = 40_960
const MAX_DETAILS_BYTES = 12_288
/** Characters. */
export const MAX_MESSAGE = 1000
const MAX_LOCATION = 256
const MAX_DETAIL = 500
/** Maximum members of an object and elements of an array in the details. */
const MAX_MEMBERS = 200
const MAX_DETAILS_DEPTH = 4

/** The first errors that fit, and whether there are more. */
export function boundedErrors(given: readonly FieldError[]): {
  readonly errors: readonly FieldError[]
  readonly more: boolean
} {
  const errors: FieldError[] = []
  let bytes = 0
  for (const { location, code, message } of given) {
    const error = {
      location: cutText(location, MAX_LOCATION),
      code,
      message: cutText(message, MAX_MESSAGE),
    }
    bytes += bytesOf(error)
    if (errors.length === MAX_ERRORS || bytes > MAX_ERRORS_BYTES) return { errors, more: true }
    errors.push(error)
  }
  return { errors, more: false }
}

type Details = Readonly<Record<string, unknown>>

/** Details within their limits: long texts are cut, and members that do not fit are omitted. */
export function boundedDetails(given: Details | undefined): Details | undefined {
  if (given === undefined) return undefined
  const kept: [string, unknown][] = []
  let bytes = 0
  for (const [name, value] of Object.entries(given)) {
    const bounded = boundedValue(value, MAX_DETAILS_DEPTH)
    const size = bytesOf({ [name]: bounded })
    if (bytes + size > MAX_DETAILS_BYTES) continue
    bytes += size
    kept.push([name, bounded])
  }
  return Object.fromEntries(kept)
}

function boundedValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cutText(value, MAX_DETAIL)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  if (Array.isArray(value)) {
    return value.slice(0, MAX_MEMBERS).map((one) => boundedValue(one, depth - 1))
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_MEMBERS)
      .map(([name, one]) => [cutText(name, MAX_LOCATION), boundedValue(one, depth - 1)]),
  )
}

function bytesOf(value: object): number {
  return utf8(JSON.stringify(value)).length + 1
}
