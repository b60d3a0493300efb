/** A refusal of a request that the document allows. */
export interface StateOnly {
  /** Of the error, or of one of its `errors`. */
  readonly code: string
  /** How the location of that one begins. Default: anywhere. */
  readonly location?: string
  /** Default: any operation. */
  readonly operation?: string
  /** Why a schema cannot say so. */
  readonly reason: string
}

/** All that is refused although the document allows it. */
export const STATE_ONLY: readonly StateOnly[] = [
  { code: 'invalid_cursor', reason: 'A cursor belongs to one list under its filters.' },
  { code: 'undeclared_event_type', reason: 'Which types there are is declared at run time.' },
  { code: 'reserved_event_type', reason: 'Which types are built in depends on the families.' },
  { code: 'unknown_event_type', reason: 'Which types there are is declared at run time.' },
  { code: 'invalid_scope', reason: 'Which scopes there are depends on the families and settings.' },
  { code: 'in_past', reason: 'Whether an instant has passed is known when it is asked.' },
  { code: 'empty_span', reason: 'Whether an instant has passed is known when it is asked.' },
  { code: 'invalid_url', reason: 'The URL standard and the settings decide what is a target.' },
  { code: 'url_not_public', reason: 'The settings say which private targets are allowed.' },
  { code: 'invalid_header', reason: 'Headers of the brand, and two that differ in case only.' },
  { code: 'invalid_hostname', reason: 'IDNA decides what is a hostname.' },
  { code: 'reserved_hostname', reason: 'Public suffixes, and hosts of this installation.' },
  { code: 'template_not_found', reason: 'Which templates there are depends on the release.' },
  { code: 'alias_reserved', reason: 'Names that would pass for a part of the service.' },
  { code: 'model_not_allowed', reason: 'The operator names the models.' },
  {
    code: 'not_named',
    operation: 'webhooks.replay',
    location: 'body.types',
    reason: 'What the webhook subscribes to is known when it is asked.',
  },
  {
    code: 'conflicting_fields',
    location: 'query.after',
    reason: 'Parameters of a query cannot exclude each other in OpenAPI.',
  },
  { code: 'path_not_allowed', reason: 'What a path may be depends on other systems and files.' },
  { code: 'invalid_path', reason: 'What a path may be depends on the other paths of the app.' },
  {
    code: 'empty_file',
    operation: 'files.upload',
    location: 'body.file',
    reason: 'Whether there is text in a file, its content says.',
  },
  {
    code: 'unsupported_media_type',
    operation: 'files.upload',
    location: 'body.file',
    reason: 'What a file is, its content says.',
  },
]
