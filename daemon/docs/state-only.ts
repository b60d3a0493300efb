import type { Operation } from '../operations/operation.ts'

/** A refusal (400, 413 or 415) of a request that the OpenAPI document allows. */
export interface StateOnly {
  /** Code of the error, or of one of its `errors`. */
  readonly code: string
  /** Location of the fault or of a parent; `[]` for any element. Default: the error has no location. */
  readonly location?: string
  /** Ids of the operations. Default: all that declare the code. */
  readonly operations?: readonly string[]
  /** Why a schema cannot say so. */
  readonly reason: string
}

/**
 * Every refusal of a request that the document allows: a published list that the API fuzzer accepts. A rule
 * that JSON Schema can express belongs in the document instead.
 */
export const STATE_ONLY: readonly StateOnly[] = [
  {
    code: 'invalid_cursor',
    reason: 'A cursor belongs to one list under its filters, a position to one account.',
  },
  { code: 'undeclared_event_type', reason: 'Which types exist is declared at run time.' },
  { code: 'reserved_event_type', reason: 'Which types are built in depends on the families.' },
  {
    code: 'unknown_event_type',
    location: 'body.events',
    reason: 'Which types exist is declared at run time.',
  },
  {
    code: 'not_named',
    location: 'body.types',
    operations: ['webhooks.replay'],
    reason: 'The webhook must subscribe to the types.',
  },
  {
    code: 'invalid_scope',
    location: 'body.scopes',
    operations: ['keys.create', 'keys.update', 'portal.create_link'],
    reason: 'Which scopes exist depends on the families and settings.',
  },
  {
    code: 'invalid_scope',
    location: 'body.scope',
    operations: ['keys.verify'],
    reason: 'Which scopes exist depends on the families and settings.',
  },
  {
    code: 'invalid_scope',
    location: 'body.keys[].scope',
    operations: ['keys.verify_batch'],
    reason: 'Which scopes exist depends on the families and settings.',
  },
  {
    code: 'scope_not_of_portal',
    location: 'body.scopes[]',
    reason: 'Which families of scopes are its own depends on the settings.',
  },
  {
    code: 'in_past',
    location: 'body.expires_at',
    operations: ['billing.grant', 'keys.create', 'keys.update'],
    reason: 'The instant must be in the future.',
  },
  {
    code: 'empty_span',
    location: 'body.since',
    operations: ['webhooks.replay', 'webhooks.retry_failed'],
    reason: 'The instant must be in the past, and before until.',
  },
  {
    code: 'empty_span',
    location: 'query.since',
    operations: ['events.list'],
    reason: 'The instant must be before until.',
  },
  {
    code: 'empty_span',
    location: 'query.from',
    operations: ['billing.usage'],
    reason: 'The first day must be at or before the last, and at most 399 days before it.',
  },
  { code: 'account_required', reason: 'The operator names the account in a header.' },
  {
    code: 'amount_out_of_range',
    reason: 'The balance or the price file limits the amount too, and 0.00 is none.',
  },
  { code: 'return_url_not_allowed', reason: 'Its origin must be that of the base URL.' },
  {
    code: 'invalid_url',
    location: 'body.url',
    operations: ['webhooks.create', 'webhooks.update'],
    reason:
      'The URL standard judges the host and the port; the settings say where http is allowed.',
  },
  {
    code: 'url_not_public',
    location: 'body.url',
    reason: 'The addresses of the host, and the private targets that the settings allow.',
  },
  {
    code: 'unknown_destination',
    location: 'body.url',
    operations: ['webhooks.create', 'webhooks.update'],
    reason: 'The settings and the plugins of the operator declare the destinations.',
  },
  {
    code: 'invalid_url',
    location: 'body.allowed_redirects',
    operations: ['settings.update_auth'],
    reason:
      'The URL standard judges the host, the port and credentials; http needs a loopback host.',
  },
  {
    code: 'invalid_header',
    location: 'body.headers',
    operations: ['webhooks.create', 'webhooks.update'],
    reason: 'Headers named after the brand, and two names that differ in case alone.',
  },
  {
    code: 'invalid_hostname',
    location: 'body.hostname',
    reason: 'IDNA decides what is a hostname.',
  },
  {
    code: 'reserved_hostname',
    location: 'body.hostname',
    reason: 'Addresses, public suffixes, and hosts of this installation.',
  },
  { code: 'template_not_found', reason: 'Which templates exist depends on the release.' },
  {
    code: 'alias_reserved',
    location: 'body.alias',
    reason: 'Names that would pass for a part of the service, its brand among them.',
  },
  { code: 'model_not_allowed', reason: 'The operator names the models.' },
  {
    code: 'path_not_allowed',
    reason:
      'Bytes of UTF-8, Unicode normal form, names that systems reserve, and the other paths of the app.',
  },
  {
    code: 'config_not_allowed',
    reason: 'Characters beyond U+FFFF count as two.',
  },
  {
    code: 'patch_not_applied',
    reason: 'Whether an operation fits depends on the files of its base.',
  },
  { code: 'app_too_large', reason: 'Bytes and files of the whole app count.' },
  { code: 'event_too_large', reason: 'Bytes of the event as JSON count.' },
  {
    code: 'too_big',
    location: 'body.schema',
    operations: ['events.declare_type'],
    reason: 'OpenAPI cannot say how many bytes of JSON an object has.',
  },
  {
    code: 'too_big',
    location: 'body.sample',
    operations: ['events.declare_type'],
    reason: 'OpenAPI cannot say how many bytes of JSON an object has.',
  },
  {
    code: 'too_many_deliveries',
    reason: 'How many webhooks take the events is known when it is asked.',
  },
  {
    code: 'insecure_transport',
    reason: 'The settings say under which address the service is reached.',
  },
  {
    code: 'conflicting_fields',
    location: 'query.after',
    operations: ['events.list'],
    reason: 'OpenAPI cannot say that parameters of a query exclude each other.',
  },
  {
    code: 'unsupported_media_type',
    location: 'body.file',
    operations: ['files.upload'],
    reason: 'The content says what a file is.',
  },
  {
    code: 'wrong_type',
    location: 'body.file',
    reason: 'The content says what a file is.',
  },
  {
    code: 'empty_file',
    location: 'body.file',
    reason: 'Beside a file that is taken, one without content is named in the answer.',
  },
  {
    code: 'invalid_file_name',
    location: 'body.file',
    reason: 'OpenAPI cannot say what a part is named.',
  },
  {
    code: 'file_too_large',
    location: 'body.file',
    reason: 'OpenAPI cannot say how many bytes a part has.',
  },
]

/** Ids of the served operations that may refuse for this reason. */
export function operationsOf(
  { code, operations }: StateOnly,
  all: readonly Operation[],
): readonly string[] {
  return all
    .filter(({ id, errors }) => operations?.includes(id) ?? errors.includes(code))
    .map(({ id }) => id)
}
