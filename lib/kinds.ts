/**
 * Argument kinds that the exported functions share.
 *
 * @module
 */
import type { Verdict } from './delivery/outcome.ts'
import type { AttemptTrigger, DeliveryStatus } from './delivery/state.ts'
import type { DeliveryFact } from './delivery/transition.ts'
import type { EngineOptions } from './engine/engine.ts'
import type { EngineEvents } from './engine/ports.ts'
import type { Kind, Kinds } from './internal/arguments.ts'
import {
  BOOLEAN,
  BYTES,
  COUNT,
  FUNCTION,
  MAP,
  NAME,
  POSITIVE,
  SET,
  TEXT,
  anyListOf,
  either,
  isPlainObject,
  listOf,
  mapOf,
  nullable,
  oneOf,
  optional,
  optionsOf,
  portOf,
  recordOf,
} from './internal/arguments.ts'
import { isSecret } from './webhook/secret.ts'
import { parseTraceparent } from './webhook/traceparent.ts'

export const SCOPE: Kind = {
  allowed: 'a scope, family:action with wildcards',
  accepts: (value) => typeof value === 'string' && /^([a-z]\w*|\*):([a-z]\w*|\*)$/.test(value),
}

/** Canonical, as `parseScopes` and `readScopes` return it. */
export const SCOPES: Kind = anyListOf(SCOPE)

export const REQUESTED_SCOPES: Kind = listOf(SCOPE)

/** Excludes wildcards: only holders of the same wildcard would satisfy one. */
export const REQUIRED_SCOPE: Kind = {
  allowed: 'one family:action without wildcards, as requiredScope returns it',
  accepts: (value) => typeof value === 'string' && /^[a-z]\w*:[a-z]\w*$/.test(value),
}

export const UNIVERSE: Kind = { ...MAP, allowed: 'a scope universe, as createUniverse returns it' }

/** A number: any other value would never compare as expired. */
const EXPIRY: Kind = nullable({ ...COUNT, allowed: 'epoch milliseconds' })

export const AUTHORITY: Kind = recordOf({
  scopes: SCOPES,
  pins: either(oneOf('all'), { ...SET, allowed: 'a Set of app ids' }),
  expires_at: EXPIRY,
})

export const INSTANT: Kind = { ...COUNT, allowed: 'epoch milliseconds' }
export const UNIX_SECONDS: Kind = { ...COUNT, allowed: 'Unix time in whole seconds' }

const SECRET: Kind = {
  allowed: 'a signing secret, "whsec_" and the base64 of 24 to 64 bytes',
  accepts: (value) => typeof value === 'string' && isSecret(value),
}

export const SECRETS: Kind = listOf(SECRET)

export const SIGNED_BODY: Kind = { ...BYTES, allowed: 'the raw body as a Uint8Array' }

export const SCHEDULE: Kind = { ...listOf(COUNT), allowed: 'a list of delays in milliseconds' }

export const SCOPE_FAMILIES: Kind = {
  ...mapOf(listOf(TEXT)),
  allowed: 'scope families, each with a list of one or more actions',
}

export const MASTER_KEYS: Kind = {
  ...listOf(
    recordOf({
      id: NAME,
      key: {
        allowed: '32 bytes',
        accepts: (value) => BYTES.accepts(value) && (value as Uint8Array).length === 32,
      },
    }),
  ),
  allowed: 'a list of master keys, as parseMasterKeys returns it',
}

const STATUSES = {
  pending: true,
  delivering: true,
  succeeded: true,
  exhausted: true,
  blocked: true,
  skipped: true,
  canceled: true,
} satisfies Record<DeliveryStatus, true>

const TRIGGERS = {
  event: true,
  retry: true,
  manual: true,
  test: true,
  replay: true,
} satisfies Record<AttemptTrigger, true>

const VERDICTS = {
  succeeded: true,
  failed: true,
  gone: true,
  blocked: true,
} satisfies Record<Verdict, true>

export const STATE: Kind = recordOf({
  status: oneOf(...Object.keys(STATUSES)),
  attempts: COUNT,
  automatic: COUNT,
  trigger: oneOf(...Object.keys(TRIGGERS)),
  next_at: nullable(INSTANT),
})

/** The fields of each fact, besides its type. */
const FACTS: Readonly<Record<DeliveryFact['type'], Kinds>> = {
  claimed: { lease_until: INSTANT },
  attempted: {
    verdict: oneOf(...Object.keys(VERDICTS)),
    retryAfter: nullable(COUNT),
    chance: {
      allowed: 'a number from 0 to below 1',
      accepts: (value) => typeof value === 'number' && value >= 0 && value < 1,
    },
  },
  lease_ended: {},
  retry_requested: { trigger: optional(oneOf('manual', 'replay')) },
  webhook_disabled: {},
  webhook_deleted: {},
}

export const FACT: Kind = {
  allowed: `a fact of type ${Object.keys(FACTS).join(', ')}, with only the fields of that type`,
  accepts(value) {
    if (!isPlainObject(value) || typeof value['type'] !== 'string') return false
    const { type } = value
    const kinds = Object.hasOwn(FACTS, type) ? FACTS[type as DeliveryFact['type']] : undefined
    return (
      kinds !== undefined &&
      Reflect.ownKeys(value).every((name) => name === 'type' || Object.hasOwn(kinds, name)) &&
      recordOf(kinds).accepts(value)
    )
  },
}

const CLOCK: Kind = portOf('now', 'steady', 'after', 'taken')
const CHANGES: Kind = portOf('listen', 'isCurrent')

export const VERIFIER_OPTIONS: Kind = optionsOf({
  store: portOf('findChain'),
  changes: CHANGES,
  clock: portOf('now'),
  prefix: TEXT,
  maxEntries: optional(POSITIVE),
  counts: optional(recordOf({ cache: COUNT, store: COUNT })),
})

const LISTENER = optional(FUNCTION)

const LISTENERS = {
  committed: LISTENER,
  attempted: LISTENER,
  settled: LISTENER,
  settleFailed: LISTENER,
  claimFailed: LISTENER,
  disabled: LISTENER,
  healthFailed: LISTENER,
  listenerFailed: LISTENER,
} satisfies Record<keyof EngineEvents, Kind>

export const ENGINE_OPTIONS: Kind = optionsOf({
  store: portOf(
    'write',
    'publish',
    'webhooksOf',
    'recover',
    'queueHeads',
    'claim',
    'release',
    'settle',
  ),
  sender: portOf('send'),
  clock: CLOCK,
  random: FUNCTION,
  newId: FUNCTION,
  keyring: portOf('encrypt', 'decrypt', 'fingerprint', 'matches'),
  names: recordOf({
    keyPrefix: NAME,
    eventHeader: NAME,
    deliveryHeader: NAME,
    signatureHeader: NAME,
    userAgent: NAME,
  }),
  schedule: SCHEDULE,
  disabling: recordOf({ failures: POSITIVE, span: COUNT }),
  limits: recordOf({ total: POSITIVE, perWebhook: POSITIVE }),
  timeout: POSITIVE,
  lease: optional(POSITIVE),
  events: optionsOf(LISTENERS),
  isBuiltIn: optional(FUNCTION),
  tracing: optional(portOf('current', 'publish', 'attempt')),
} satisfies Record<keyof EngineOptions, Kind>)

const TRACEPARENT: Kind = {
  allowed: 'a W3C traceparent of version 00',
  accepts: (value) => typeof value === 'string' && parseTraceparent(value) !== undefined,
}

export const NEW_EVENTS: Kind = {
  ...listOf(
    recordOf({
      id: NAME,
      account_id: NAME,
      app_id: nullable(NAME),
      type: NAME,
      created_at: INSTANT,
      body: BYTES,
      supplied: BOOLEAN,
      traceparent: optional(TRACEPARENT),
    }),
  ),
  allowed: 'a list of events, as newEvent returns them',
}

export const UNIT_OF_WORK: Kind = portOf('webhooksOf', 'insertPublished', 'afterCommit')
