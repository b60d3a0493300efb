import type { NewEvent } from '../../../lib/engine/ports.ts'
import type { ErrorExtras, ErrorRow, ErrorTable } from '../../../lib/errors.ts'
import { KeyhookError } from '../../../lib/errors.ts'
import { boundedErrors } from '../../../lib/internal/error-bounds.ts'
import type { AcceptedEvent, RefusedEvent } from './schema.ts'

/** Refusal of an event. It is not thrown: a batch reports its refusals in a successful response. */
export interface Refusal {
  readonly code: string
  readonly row: ErrorRow
  readonly extras: ErrorExtras
}

export function refuse<Code extends string>(
  { rows }: ErrorTable<Code>,
  code: Code,
  extras: ErrorExtras = {},
): Refusal {
  return { code, row: rows[code], extras }
}

/** An event to publish, or its refusal. */
export type Judged = NewEvent | Refusal

export function isRefusal(judged: object): judged is Refusal {
  return 'row' in judged
}

export function isEvent(judged: Judged): judged is NewEvent {
  return !isRefusal(judged)
}

/** Error of a request with a single event. */
export function toError({ code, row, extras }: Refusal): KeyhookError {
  return new KeyhookError(code, row, extras)
}

/** Maximum errors in the response of one batch. */
const MAX_ERRORS = 50
/** Maximum bytes of the refusals of one batch as JSON. */
const MAX_BYTES = 65_536

/**
 * Prints the refused events of one batch, in order. Each has its code and status; messages and errors are
 * included from the first one on until the limit, then messages are empty.
 */
export function printRefusals(
  answers: readonly (AcceptedEvent | Refusal)[],
): readonly (AcceptedEvent | RefusedEvent)[] {
  let errorsLeft = MAX_ERRORS
  let bytesLeft = MAX_BYTES - sum(answers.filter(isRefusal).map((one) => bytesOf(bare(one))))

  function take(bytes: number): boolean {
    if (bytes > bytesLeft) return false
    bytesLeft -= bytes
    return true
  }

  function print(refusal: Refusal): RefusedEvent {
    const { message: full = refusal.row.text, errors: all = [] } = refusal.extras
    const { error } = bare(refusal)
    const message = take(bytesOf(full)) ? full : ''
    const errors = takeWhile(boundedErrors(all.slice(0, errorsLeft)).errors, (one) =>
      take(bytesOf(one)),
    )
    errorsLeft -= errors.length
    const more = errors.length < all.length ? { more_errors: true as const } : {}
    return {
      status: 'refused',
      error: { code: error.code, message, status: error.status, errors, ...more },
    }
  }

  return answers.map((one) => (isRefusal(one) ? print(one) : one))
}

/** Shortest form of a refusal. */
function bare({ code, row, extras: { errors = [] } }: Refusal): RefusedEvent {
  const more = errors.length > 0 ? { more_errors: true as const } : {}
  return {
    status: 'refused',
    error: { code, message: '', status: row.status, errors: [], ...more },
  }
}

function takeWhile<T>(all: readonly T[], fits: (one: T) => boolean): T[] {
  const end = all.findIndex((one) => !fits(one))
  return all.slice(0, end === -1 ? undefined : end)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

/** Size with a comma. */
function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1
}
