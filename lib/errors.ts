import type { FieldError } from './internal/error-bounds.ts'
import { MAX_ERRORS, MAX_MESSAGE, boundedDetails, boundedErrors } from './internal/error-bounds.ts'
import { cutText } from './internal/text.ts'
import type { Kind } from './internal/arguments.ts'
import {
  ANY,
  NAME,
  OBJECT,
  POSITIVE,
  TEXT,
  anyListOf,
  declareArguments,
  mapOf,
  oneOf,
  optional,
  optionsOf,
  recordOf,
} from './internal/arguments.ts'

export type { FieldError } from './internal/error-bounds.ts'

/** What a caller sees of one error code. A code never changes its meaning and is never reused. */
export interface ErrorRow {
  readonly status: number
  /** Public sentence. It names the remedy and nothing internal. */
  readonly text: string
}

export interface ErrorExtras {
  /** Replaces the row's text with a more specific sentence. Public. */
  readonly message?: string
  /** Machine-readable facts for the caller. Public. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly errors?: readonly FieldError[]
  /** For logs only. */
  readonly internal?: string
  readonly cause?: unknown
}

const ROW = { ...recordOf({ status: POSITIVE, text: TEXT }), allowed: 'a row { status, text }' }

const FIELD_ERROR = recordOf({ location: TEXT, code: TEXT, message: TEXT })

/** Checks the first `MAX_ERRORS` elements: an error keeps no more. */
const FIELD_ERRORS: Kind = {
  ...anyListOf(FIELD_ERROR),
  accepts: (value) => Array.isArray(value) && value.slice(0, MAX_ERRORS).every(FIELD_ERROR.accepts),
}

const readError = declareArguments('KeyhookError', {
  code: NAME,
  row: ROW,
  extras: optionsOf({
    message: optional(TEXT),
    details: optional(OBJECT),
    errors: optional(FIELD_ERRORS),
    internal: optional(TEXT),
    cause: optional(ANY),
  } satisfies Record<keyof ErrorExtras, Kind>),
})

/** Names of an error's classes, the same in every copy of the package. */
const CLASSES = Symbol.for('keyhook.errors')

function classesOf(constructor: { readonly name: string }): readonly string[] {
  const base: unknown = Object.getPrototypeOf(constructor)
  const isClass = typeof base === 'function' && base.name !== 'Error'
  return [constructor.name, ...(isClass ? classesOf(base) : [])]
}

/**
 * An expected error with a stable code. Anything else that is thrown is a defect.
 *
 * `instanceof` also accepts an error of another copy of the package, which a plugin may bring.
 *
 * The message, details and errors may contain the caller's text, so their size is limited: at most 50
 * errors (`details.more_errors` is true when there are more), and 64 KiB of JSON for the response.
 */
export class KeyhookError<Code extends string = string> extends Error {
  override readonly name = 'KeyhookError'
  readonly code: Code
  readonly status: number
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly errors: readonly FieldError[]
  readonly internal: string | undefined

  constructor(...args: readonly [code: Code, row: ErrorRow, extras?: ErrorExtras]) {
    readError(args)
    const [code, row, extras = {}] = args
    const message = cutText(extras.message ?? row.text, MAX_MESSAGE)
    super(message, 'cause' in extras ? { cause: extras.cause } : undefined)
    const { errors, more } = boundedErrors(extras.errors ?? [])
    this.code = code
    this.status = row.status
    this.details = boundedDetails(more ? { ...extras.details, more_errors: true } : extras.details)
    this.errors = errors
    this.internal = extras.internal
    Object.defineProperty(this, CLASSES, { value: classesOf(new.target) })
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== 'object' || value === null || !(CLASSES in value)) return false
    const classes = value[CLASSES]
    return Array.isArray(classes) && classes.includes(this.name)
  }
}

export interface ErrorTable<Code extends string> {
  (code: Code, extras?: ErrorExtras): KeyhookError<Code>
  readonly rows: Readonly<Record<Code, ErrorRow>>
}

const readRows = declareArguments('defineErrors', {
  rows: { ...mapOf(ROW), allowed: 'rows { status, text } by code' },
})

/**
 * Declares a closed set of error codes. Returns a factory of errors that also exposes the rows, for docs.
 *
 * @throws TypeError for a row that is not `{ status, text }`
 * @example
 * const keyError = defineErrors({ key_not_found: { status: 404, text: 'No key with this id is visible to you.' } })
 * throw keyError('key_not_found')
 */
export function defineErrors<const Code extends string>(
  ...args: readonly [rows: Readonly<Record<Code, ErrorRow>>]
): ErrorTable<Code> {
  readRows(args)
  const [rows] = args
  const declared = { code: oneOf(...Object.keys(rows)), extras: optional(ANY) }
  const readCode = declareArguments('an error of defineErrors', declared)
  const make = (...given: readonly [code: Code, extras?: ErrorExtras]): KeyhookError<Code> => {
    readCode(given)
    const [code, extras] = given
    return new KeyhookError(code, rows[code], extras)
  }
  return Object.assign(make, { rows })
}

export type KernelErrorCode =
  | 'missing_credentials'
  | 'invalid_key'
  | 'key_expired'
  | 'key_revoked'
  | 'key_rotated'
  | 'account_suspended'
  | 'insufficient_scope'
  | 'key_pinned'
  | 'app_not_found'
  | 'invalid_scope'
  | 'scope_not_delegable'
  | 'scope_widening_forbidden'
  | 'delegation_too_deep'
  | 'previous_value_restricted'
  | 'key_not_managed'
  | 'key_not_active'
  | 'invalid_url'
  | 'url_not_public'
  | 'invalid_event'
  | 'event_too_large'
  | 'invalid_schedule'
  | 'secret_unreadable'
  | 'rate_limited'
  | 'unavailable'

/** Errors of the kernel. */
export const kernelError: ErrorTable<KernelErrorCode> = defineErrors<KernelErrorCode>({
  missing_credentials: {
    status: 401,
    text: 'Send a developer key in the Authorization header: "Authorization: Bearer <key>".',
  },
  invalid_key: {
    status: 401,
    text: 'This is not a key of this service. Check that it was copied whole.',
  },
  key_expired: { status: 401, text: 'This key has expired. Ask its owner for a new one.' },
  key_revoked: { status: 401, text: 'This key was revoked.' },
  key_rotated: {
    status: 401,
    text: 'This value was replaced by a rotation and its grace period is over. Use the current value of the key.',
  },
  account_suspended: { status: 403, text: 'The account is suspended.' },
  insufficient_scope: { status: 403, text: 'The key lacks a scope that this operation needs.' },
  key_pinned: { status: 403, text: 'A key that is pinned to apps cannot do this.' },
  app_not_found: { status: 404, text: 'No app with this id is visible to you.' },
  invalid_scope: {
    status: 400,
    text: 'A scope is family:action, family:*, *:read or *:*. details.scopes lists every family:action of this service.',
  },
  scope_not_delegable: {
    status: 403,
    text: 'A key can only grant what it holds: scopes, apps and expiry must lie within its own.',
  },
  scope_widening_forbidden: {
    status: 403,
    text: 'Scopes can be narrowed, never widened. Create another key for more.',
  },
  delegation_too_deep: { status: 403, text: 'Keys can be delegated through at most 8 levels.' },
  previous_value_restricted: {
    status: 403,
    text: 'The previous value of a rotated key cannot create, rotate or change keys, nor create or redirect webhooks. Use the current value.',
  },
  key_not_managed: {
    status: 403,
    text: 'This key holds authority beyond yours, so you cannot manage it.',
  },
  key_not_active: { status: 409, text: 'The key is expired or revoked. This cannot be undone.' },
  invalid_url: {
    status: 400,
    text: 'The url must be an absolute https address, such as https://hooks.example.com/in.',
  },
  url_not_public: {
    status: 400,
    text: 'The url must resolve to a public address. The operator can permit private targets with KEYHOOK_WEBHOOK_ALLOW (webhookAllow).',
  },
  invalid_event: { status: 400, text: 'The event is not well-formed.' },
  event_too_large: { status: 413, text: 'An event is at most 256 KiB.' },
  invalid_schedule: {
    status: 400,
    text: 'A retry schedule is 1 to 20 delays in seconds, each from 0 to 604800.',
  },
  secret_unreadable: {
    status: 503,
    text: 'A stored secret cannot be read with the current master keys.',
  },
  rate_limited: { status: 429, text: 'Too many requests. Wait as long as Retry-After says.' },
  unavailable: { status: 503, text: 'The current state could not be read. Try again.' },
})
