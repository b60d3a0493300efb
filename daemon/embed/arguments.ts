/**
 * Arguments of an embedded Keyhook.
 *
 * @module
 */
import type { Kind, Kinds, ReadArguments } from '../../lib/internal/arguments.ts'
import {
  BOOLEAN,
  COUNT,
  FUNCTION,
  NAME,
  OBJECT,
  POSITIVE,
  TEXT,
  declareArguments,
  isObject,
  isPlainObject,
  listOf,
  mapOf,
  nullable,
  oneOf,
  optional,
  optionsOf,
  readOptions,
} from '../../lib/internal/arguments.ts'
import { MAX_KEY_LIMIT } from '../../lib/key/lifecycle.ts'
import { INSTANT } from '../../lib/kinds.ts'
import { isSequelize, sqliteFileOfKnex } from '../../plugins/registry.ts'
import type { Requirement } from '../families/keys/need.ts'
import { LINK_SECONDS } from '../families/portal/link.ts'
import { isAccountId } from '../authority/principal.ts'
import { SETTINGS } from '../config/settings.ts'
import { APPS_ONLY, DAEMON_ONLY } from './options.ts'
import { SERVED_FAMILIES, servesApps } from './families.ts'
import { PLUGINS } from './plugins.ts'

const ACCOUNT_ID: Kind = {
  allowed: 'an account id of 1 to 64 letters, digits, _ or -',
  accepts: (value) => typeof value === 'string' && isAccountId(value),
}

/** Optional, but not undefined: a misspelt variable must not drop the argument. */
function given(kind: Kind): Kind {
  return { ...kind, missing: true }
}

/** Those of Knex are functions. */
const TRANSACTION: Kind = {
  allowed: OBJECT.allowed,
  accepts: (value) => OBJECT.accepts(value) || typeof value === 'function',
}

const REQUIREMENT: Kinds = {
  scope: given(nullable(TEXT)),
  scopes: given(listOf(TEXT)),
  app: given(NAME),
}

/**
 * Reads what a key must allow. A call without a requirement must say so, because a lost requirement would
 * admit every key.
 */
export function readRequirement(value: unknown): Requirement {
  // The usual requirement is read with every request: the same rules in half the time.
  if (isPlainObject(value)) {
    // Two lists: together they take V8 half as long as `Reflect.ownKeys`.
    const names = Object.getOwnPropertyNames(value)
    const isScope = names.length === 1 && names[0] === 'scope'
    const only = isScope && !hasSymbols(value) ? value['scope'] : undefined
    if (typeof only === 'string') return { scope: only }
  }
  const read = readOptions('keys.verify', 'requirement', REQUIREMENT, value)
  const { scope, scopes, app } = read as { scope?: string | null; scopes?: string[]; app?: string }
  if (scope !== undefined && scopes !== undefined) {
    throw new TypeError('keys.verify: requirement names either scope or scopes, not both')
  }
  if (scope === undefined && scopes === undefined && app === undefined) throw nothingRequired()
  return read as Requirement
}

function hasSymbols(value: object): boolean {
  return Object.getOwnPropertySymbols(value).length > 0
}

export function nothingRequired(): TypeError {
  return new TypeError(
    'keys.verify: requirement must name scope, scopes or app; { scope: null } requires nothing',
  )
}

export const readPublish: ReadArguments = declareArguments('webhooks.publish', {
  event: optionsOf({
    account_id: ACCOUNT_ID,
    type: NAME,
    data: OBJECT,
    app_id: optional(NAME),
    id: optional(NAME),
  }),
  options: optionsOf({ transaction: given(TRANSACTION) }),
})

const OPERATION_ID: Kind = {
  allowed: 'an id of 1 to 128 printable ASCII characters, without spaces',
  accepts: (value) => typeof value === 'string' && /^[!-~]{1,128}$/.test(value),
}

const LIFETIME: Kind = {
  allowed: 'a whole number of seconds, from 60 to 604800',
  accepts: (value) => POSITIVE.accepts(value) && Number(value) >= 60 && Number(value) <= 604_800,
}

/** Undefined is refused: a variable that got lost would charge for one unit, or to no key. */
const PRICED: Kinds = { operation: NAME, quantity: given(POSITIVE), key_id: given(NAME) }

const OWN_WORK: Kinds = { account_id: ACCOUNT_ID, operation_id: OPERATION_ID }

function readCharge(name: string, work: Kinds): ReadArguments {
  const options = optionsOf({ transaction: given(TRANSACTION) })
  return declareArguments(`billing.${name}`, { work: optionsOf(work), options })
}

const LINK_SPAN: Kind = {
  allowed: `a whole number of seconds, from ${LINK_SECONDS.least} to ${LINK_SECONDS.most}`,
  accepts: (value) => POSITIVE.accepts(value) && Number(value) <= LINK_SECONDS.most,
}

export const readPortal = {
  link: declareArguments('portal.link', {
    accountId: ACCOUNT_ID,
    // Undefined is refused: a variable that got lost would give more than it was meant to.
    options: optionsOf({ scopes: given(listOf(TEXT)), expires_in: given(LINK_SPAN) }),
  }),
  end: declareArguments('portal.end', { accountId: ACCOUNT_ID }),
} as const

export const readBilling = {
  quote: readCharge('quote', { account_id: ACCOUNT_ID, ...PRICED }),
  hold: readCharge('hold', { ...OWN_WORK, ...PRICED, lifetime_seconds: given(LIFETIME) }),
  capture: readCharge('capture', { ...OWN_WORK, quantity: given(COUNT) }),
  release: readCharge('release', OWN_WORK),
}

const RESOLVE = optional(FUNCTION)

const ROUTE_OPTIONS = optionsOf({ prefix: optional(TEXT), resolve: RESOLVE })

export const readRoutes = {
  callback: declareArguments('callback', { options: ROUTE_OPTIONS }),
  koa: declareArguments('koa', { options: ROUTE_OPTIONS }),
  fastify: declareArguments('fastify', { options: optionsOf({ resolve: RESOLVE }) }),
  web: declareArguments('web', {
    options: optionsOf({ prefix: optional(TEXT), resolve: RESOLVE, address: optional(FUNCTION) }),
  }),
}

/** Result of `resolve`: a misspelt `authenticated_at` would count as a sign-in just now. */
const SIGNED_IN: Kinds = {
  account_id: ACCOUNT_ID,
  user_id: NAME,
  email: optional(TEXT),
  authenticated_at: optional(INSTANT),
}

export function readSignedIn(value: unknown): Readonly<Record<string, unknown>> {
  return readOptions('resolve', 'its answer', SIGNED_IN, value)
}

export const readAccount: ReadArguments = declareArguments('as', { account_id: ACCOUNT_ID })

const KEY_LIMIT: Kind = {
  allowed: `a whole number from 1 to ${MAX_KEY_LIMIT}, or null for the default`,
  accepts: (value) =>
    value === null ||
    (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_KEY_LIMIT),
}

export const readAccountChanges: ReadArguments = declareArguments('accounts.update', {
  account_id: ACCOUNT_ID,
  changes: optionsOf({ key_limit: given(KEY_LIMIT), plan: given(oneOf('free', 'pro')) }),
})

export const readWork: ReadArguments = declareArguments('transaction', { work: FUNCTION })

const NUMBER: Kind = {
  allowed: 'a whole number',
  accepts: (value) => Number.isSafeInteger(value) || NAME.accepts(value),
}

const ELEMENTS = listOf({
  allowed: 'a string or a whole number',
  accepts: (value) => NUMBER.accepts(value),
})

const LIST: Kind = {
  allowed: 'a string, or a list that is not empty',
  accepts: (value) => NAME.accepts(value) || ELEMENTS.accepts(value),
}

/** Settings whose default does not show that they are lists or numbers. */
const OWN_KINDS: Readonly<Partial<Record<keyof typeof SETTINGS, Kind>>> = {
  appsPort: NUMBER,
  masterKey: LIST,
  webhookAllow: LIST,
  scopes: {
    allowed: 'a string, or scope families with a list of one or more actions each',
    accepts: (value) => NAME.accepts(value) || mapOf(listOf(NAME)).accepts(value),
  },
}

function kindOf(name: keyof typeof SETTINGS): Kind {
  const { fallback } = SETTINGS[name]
  const own = OWN_KINDS[name]
  if (own !== undefined) return optional(own)
  if (typeof fallback === 'number') return optional(NUMBER)
  return optional(Array.isArray(fallback) ? LIST : NAME)
}

const DATABASE: Kind = {
  allowed:
    'a Sequelize instance, a pool of pg, Knex over sqlite3, postgres://…, or the path of a SQLite file',
  accepts: (value) =>
    NAME.accepts(value) ||
    isSequelize(value) ||
    sqliteFileOfKnex(value) !== undefined ||
    (isObject(value) && typeof value['connect'] === 'function'),
}

const EMBEDDED = (Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]).filter(
  (name) => !Object.hasOwn(DAEMON_ONLY, name),
)

const readOwnOptions: ReadArguments = declareArguments('createKeyhook', {
  options: optionsOf({
    database: optional(DATABASE),
    tablePrefix: optional(NAME),
    dispatch: optional(BOOLEAN),
    families: optional(SERVED_FAMILIES),
    plugins: PLUGINS,
    ...Object.fromEntries(EMBEDDED.map((name) => [name, kindOf(name)])),
  }),
})

/**
 * @throws TypeError also for a setting without effect in an embedded Keyhook, with the reason
 */
export const readKeyhookOptions: ReadArguments = (given) => {
  const options = given[0]
  if (isPlainObject(options)) {
    const { families } = options
    const hasApps = Array.isArray(families) && servesApps(families)
    const unused = hasApps ? DAEMON_ONLY : { ...DAEMON_ONLY, ...APPS_ONLY }
    for (const [name, reason] of Object.entries(unused)) {
      if (!Object.hasOwn(options, name)) continue
      throw new TypeError(
        `createKeyhook: options.${name} has no effect when embedded: ${reason}. Leave it out`,
      )
    }
  }
  return readOwnOptions(given)
}
