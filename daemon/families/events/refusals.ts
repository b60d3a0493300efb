import type { NewEvent } from '../../../lib/engine/ports.ts'
import type { ErrorExtras, ErrorRow, ErrorTable } from '../../../lib/errors.ts'
import { KeyhookError } from '../../../lib/errors.ts'
import { boundedErrors } from '../../../lib/internal/error-bounds.ts'
import type { RefusedEvent } from './schema.ts'

/** Why an event is refused. Not an error yet: those of a batch are answered, and none of them is thrown. */
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

/** An event to publish, or why it cannot be. */
export type Judged = NewEvent | Refusal

export function isRefusal(judged: object): judged is Refusal {
  return 'row' in judged
}

export function isEvent(judged: Judged): judged is NewEvent {
  return !isRefusal(judged)
}

/** Of the only event of a request. */
export function toError({ code, row, extras }: Refusal): KeyhookError {
  return new KeyhookError(code, row, extras)
}

/** Errors that the answer to one batch lists, of all its events together. */
const MAX_ERRORS = 50

/** Answers the refused events of one batch, in their order. */
export function createRefusals(): (refusal: Refusal) => RefusedEvent {
  let left = MAX_ERRORS
  return ({ code, row, extras }) => {
    const { message = row.text, errors: all = [] } = extras
    const { errors } = boundedErrors(all.slice(0, left))
    left -= errors.length
    const more = errors.length < all.length ? { more_errors: true as const } : {}
    return {
      status: 'refused',
      error: { code, message, status: row.status, errors: [...errors], ...more },
    }
  }
}
