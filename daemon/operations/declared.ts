/**
 * The form of what a family declares, for authors without a type checker: a misspelt name must not remove a check.
 *
 * @module
 */
import type { Kind, ReadArguments } from '../../lib/internal/arguments.ts'
import {
  BOOLEAN,
  FUNCTION,
  NAME,
  OBJECT,
  POSITIVE,
  TEXT,
  anyListOf,
  declareArguments,
  either,
  isObject,
  isPlainObject,
  listOf,
  mapOf,
  oneOf,
  optional,
  optionsOf,
  recordOf,
} from '../../lib/internal/arguments.ts'

const SCHEMA: Kind = { allowed: 'a schema of zod', accepts: isSchema }

/** Functions of other copies of zod have it too. */
function isSchema(value: unknown): boolean {
  return isObject(value) && '_zod' in value && typeof value['safeParse'] === 'function'
}

/** Only these options: an unknown one could be a misspelt restriction. */
function exactly(kinds: Readonly<Record<string, Kind>>, allowed: string): Kind {
  const record = recordOf(kinds)
  return {
    allowed,
    accepts: (value) =>
      isPlainObject(value) &&
      record.accepts(value) &&
      Reflect.ownKeys(value).every((name) => Object.hasOwn(kinds, name)),
  }
}

const ACCESS = either(
  oneOf('key', 'user', 'owner', 'operator', 'portal', 'public'),
  exactly(
    {
      scope: NAME,
      pinned: oneOf('allowed', 'refused'),
      self: optional(NAME),
      service: optional(BOOLEAN),
      portal: optional(BOOLEAN),
    },
    "{ scope, pinned: 'allowed' or 'refused' }",
  ),
)

const AGENT = either(
  exactly(
    {
      toolset: NAME,
      default: optional(BOOLEAN),
      destructive: optional(BOOLEAN),
      openWorld: optional(BOOLEAN),
      resource: optional(either(BOOLEAN, FUNCTION)),
      follow: optional(FUNCTION),
      skill: optional(OBJECT),
    },
    '{ toolset }',
  ),
  exactly({ omit: NAME }, '{ omit } with the reason'),
)

const EMISSION = either(
  NAME,
  exactly(
    { family: NAME, because: NAME, requires: optional(NAME) },
    '{ family, because, requires? }',
  ),
)

const INPUT = exactly(
  {
    params: optional(SCHEMA),
    query: optional(SCHEMA),
    body: optional(SCHEMA),
    form: optional(OBJECT),
    parts: optional(OBJECT),
  },
  'an object { params?, query?, body? } of schemas',
)

const EXAMPLE = exactly(
  {
    params: optional(mapOf(TEXT)),
    query: optional(mapOf(TEXT)),
    body: optional({ allowed: 'any value', accepts: () => true }),
    response: { allowed: 'a response', accepts: (value) => value !== undefined },
    accepted: optional({ allowed: 'any value', accepts: () => true }),
  },
  'an example { response, params?, query?, body? }',
)

export const readOperation: ReadArguments = declareArguments('operation', {
  operation: optionsOf({
    effect: oneOf('read', 'write', 'publish', 'own', 'bytes', 'stream'),
    id: NAME,
    summary: NAME,
    method: oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
    path: NAME,
    access: ACCESS,
    agent: AGENT,
    emits: anyListOf(EMISSION),
    input: INPUT,
    output: SCHEMA,
    documented: optional(recordOf({ body: SCHEMA, output: SCHEMA })),
    status: optional(POSITIVE),
    accepted: optional(FUNCTION),
    watch: optional(FUNCTION),
    errors: anyListOf(NAME),
    example: EXAMPLE,
    quote: optional(recordOf({ output: SCHEMA, run: FUNCTION })),
    cache: optional(recordOf({ seconds: POSITIVE })),
    csv: optional(recordOf({ columns: listOf(NAME), row: FUNCTION })),
    idempotency: optional(oneOf('required')),
    secret: optional(listOf(NAME)),
    command: optional(NAME),
    failure: optional(FUNCTION),
    conclusion: optional(FUNCTION),
    warning: optional(recordOf({ list: FUNCTION, describe: FUNCTION })),
    stepUp: optional(BOOLEAN),
    bodyLimit: optional(POSITIVE),
    unmetered: optional(oneOf(true, 'unless_refused', 'operator')),
    prepare: optional(FUNCTION),
    discard: optional(FUNCTION),
    onUnknownOutcome: optional(FUNCTION),
    afterCommit: optional(FUNCTION),
    run: FUNCTION,
  }),
})

const DECLARED = recordOf({ id: NAME, method: NAME, path: NAME, run: FUNCTION })

const EVENT = recordOf({
  type: NAME,
  scope: NAME,
  description: NAME,
  schema: optional(SCHEMA),
  sample: OBJECT,
})

const ERRORS: Kind = {
  allowed: 'a table of defineErrors',
  accepts: (value) =>
    (typeof value === 'function' || isObject(value)) &&
    isObject((value as { readonly rows?: unknown }).rows),
}

const FAMILY = {
  name: NAME,
  needs: optional(anyListOf(recordOf({ name: NAME }))),
  scopes: mapOf(listOf(NAME)),
  events: anyListOf(EVENT),
  errors: ERRORS,
  operations: anyListOf(DECLARED),
  jobs: optional(anyListOf(recordOf({ createHandler: FUNCTION }))),
  records: optional(
    recordOf({
      family: NAME,
      tables: listOf(NAME),
      migrations: { allowed: 'a list', accepts: Array.isArray },
    }),
  ),
  extendsApps: optional(OBJECT),
}

export const readFamily: ReadArguments = declareArguments('defineFamily', {
  family: optionsOf(FAMILY),
})

export const readEvents: ReadArguments = declareArguments('defineEvents', {
  types: anyListOf(EVENT),
})
