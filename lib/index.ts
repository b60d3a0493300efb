/**
 * The kernel of Keyhook: developer keys and webhooks, without I/O of its own.
 *
 * Every function checks its arguments first. It throws a TypeError that names the argument and the
 * allowed values.
 *
 * @module
 */
import * as schedule from './delivery/schedule.ts'
import * as delivery from './delivery/transition.ts'
import * as engine from './engine/engine.ts'
import * as keyring from './engine/keyring.ts'
import * as verifier from './engine/verifier.ts'
import * as authority from './grant/authority.ts'
import * as delegate from './grant/delegate.ts'
import {
  ANY,
  FUNCTION,
  NAME,
  OBJECT,
  TEXT,
  checked,
  checkedAsync,
  checkedMethods,
  listOf,
  nullable,
  optional,
} from './internal/arguments.ts'
import * as token from './key/token.ts'
import {
  REQUESTED_SCOPES,
  AUTHORITY,
  ENGINE_OPTIONS,
  FACT,
  INSTANT,
  MASTER_KEYS,
  NEW_EVENTS,
  REQUIRED_SCOPE,
  SCHEDULE,
  SCOPE,
  SCOPES,
  SCOPE_FAMILIES,
  SECRETS,
  SIGNED_BODY,
  STATE,
  UNIT_OF_WORK,
  UNIVERSE,
  UNIX_SECONDS,
  VERIFIER_OPTIONS,
} from './kinds.ts'
import * as cover from './scope/cover.ts'
import * as syntax from './scope/syntax.ts'
import * as headers from './webhook/headers.ts'
import * as secret from './webhook/secret.ts'
import * as sign from './webhook/sign.ts'

export { KeyhookError, defineErrors } from './errors.ts'
export type { ErrorRow, FieldError, KernelErrorCode } from './errors.ts'
export type { Instant, Millis } from './time.ts'

export const isToken: typeof token.isToken = checked(
  'isToken',
  { prefix: TEXT, value: ANY },
  token.isToken,
)
export const mintToken: typeof token.mintToken = checked(
  'mintToken',
  { prefix: TEXT, random: FUNCTION },
  token.mintToken,
)
export const hashToken: typeof token.hashToken = checked(
  'hashToken',
  { value: TEXT },
  token.hashToken,
)
export type { KeyChain, KeyRecord } from './key/record.ts'

export { SPEC_SCOPES } from './scope/syntax.ts'
export const createUniverse: typeof syntax.createUniverse = checked(
  'createUniverse',
  { declared: SCOPE_FAMILIES },
  syntax.createUniverse,
)
export const parseScopes: typeof syntax.parseScopes = checked(
  'parseScopes',
  {
    // The function checks the elements itself, so that its error names every bad one.
    list: { allowed: 'a list of scopes', accepts: Array.isArray },
    universe: UNIVERSE,
    location: optional(TEXT),
  },
  syntax.parseScopes,
)
export const allows: typeof cover.allows = checked(
  'allows',
  { holder: SCOPES, required: REQUIRED_SCOPE },
  cover.allows,
)
export const covers: typeof cover.covers = checked(
  'covers',
  { holder: SCOPES, requested: SCOPE },
  cover.covers,
)
export const requiredScope: typeof cover.requiredScope = checked(
  'requiredScope',
  { text: TEXT, universe: UNIVERSE },
  cover.requiredScope,
)
export const uncovered: typeof cover.uncovered = checked(
  'uncovered',
  { holder: SCOPES, requested: REQUESTED_SCOPES },
  cover.uncovered,
)
export type { Scope, ScopeSet } from './scope/canonical.ts'

export { FULL_AUTHORITY } from './grant/authority.ts'
export const effectiveAuthority: typeof authority.effectiveAuthority = checked(
  'effectiveAuthority',
  { chain: listOf(AUTHORITY) },
  authority.effectiveAuthority,
)
export const meetAuthority: typeof authority.meetAuthority = checked(
  'meetAuthority',
  { a: AUTHORITY, b: AUTHORITY },
  authority.meetAuthority,
)
export const exceeds: typeof delegate.exceeds = checked(
  'exceeds',
  { holder: AUTHORITY, requested: AUTHORITY },
  delegate.exceeds,
)
export type { Authority, Pins } from './grant/authority.ts'

export const brandNames: typeof headers.brandNames = checked(
  'brandNames',
  { brand: TEXT },
  headers.brandNames,
)
export type { EventEnvelope } from './webhook/event.ts'
export const mintSecret: typeof secret.mintSecret = checked(
  'mintSecret',
  { random: FUNCTION },
  secret.mintSecret,
)
export const signatureHeader: typeof sign.signatureHeader = checked(
  'signatureHeader',
  { timestampSeconds: UNIX_SECONDS, body: SIGNED_BODY, secrets: SECRETS },
  sign.signatureHeader,
)
export const standardSignature: typeof sign.standardSignature = checked(
  'standardSignature',
  { id: NAME, timestampSeconds: UNIX_SECONDS, body: SIGNED_BODY, secrets: SECRETS },
  sign.standardSignature,
)
export { WebhookVerificationError, verifyWebhook } from './webhook/verify.ts'
export type { VerifiedWebhook } from './webhook/verify.ts'

export { DEFAULT_SCHEDULE } from './delivery/schedule.ts'
export const parseSchedule: typeof schedule.parseSchedule = checked(
  'parseSchedule',
  { text: TEXT },
  schedule.parseSchedule,
)
export const transition: typeof delivery.transition = checked(
  'transition',
  { state: STATE, fact: FACT, now: INSTANT, schedule: SCHEDULE },
  delivery.transition,
)
export type { Attempt, DeliveryState, DeliveryStatus } from './delivery/state.ts'

export const createEngine: typeof engine.createEngine = checked(
  'createEngine',
  { options: ENGINE_OPTIONS },
  (options) => {
    const made = engine.createEngine(options)
    return {
      ...checkedMethods('engine', made, {
        newEvent: {
          accountId: NAME,
          type: NAME,
          data: OBJECT,
          now: optional(INSTANT),
          appId: optional(nullable(NAME)),
        },
      }),
      publishIn: checkedAsync(
        'engine.publishIn',
        { tx: UNIT_OF_WORK, events: NEW_EVENTS, except: optional(NAME) },
        made.publishIn,
      ),
      outbox: {
        publish: checkedAsync('engine.outbox.publish', { events: NEW_EVENTS }, made.outbox.publish),
      },
    }
  },
)
export type { Engine, EngineOptions } from './engine/engine.ts'
export const createKeyring: typeof keyring.createKeyring = checked(
  'createKeyring',
  { keys: MASTER_KEYS, random: FUNCTION },
  (keys, random) =>
    checkedMethods('keyring', keyring.createKeyring(keys, random), {
      encrypt: { plain: TEXT, associatedData: NAME },
      decrypt: { encrypted: TEXT, associatedData: NAME },
      fingerprint: { text: TEXT },
      matches: { text: TEXT, fingerprint: TEXT },
    }),
)
export const parseMasterKeys: typeof keyring.parseMasterKeys = checked(
  'parseMasterKeys',
  { text: TEXT },
  keyring.parseMasterKeys,
)
export const createVerifier: typeof verifier.createVerifier = checked(
  'createVerifier',
  { options: VERIFIER_OPTIONS },
  verifier.createVerifier,
)
export type { VerifiedKey, Verifier } from './engine/verifier.ts'
export type { Clock, EngineStore, RandomBytes, Sender } from './engine/ports.ts'
