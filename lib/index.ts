/**
 * The kernel of Keyhook: developer keys and webhooks, without I/O of its own.
 *
 * @module
 */
export { KeyhookError, defineErrors } from './errors.ts'
export type { ErrorRow, FieldError, KernelErrorCode } from './errors.ts'
export type { Instant, Millis } from './time.ts'

export { isToken, mintToken } from './key/token.ts'
export { hashToken } from './key/hash.ts'
export type { KeyChain, KeyRecord } from './key/record.ts'

export { SPEC_SCOPES, createUniverse, parseScopes } from './scope/syntax.ts'
export { allows, covers, requiredScope, uncovered } from './scope/cover.ts'
export type { Scope, ScopeSet } from './scope/canonical.ts'

export { FULL_AUTHORITY, effectiveAuthority, meetAuthority } from './grant/authority.ts'
export { exceeds } from './grant/delegate.ts'
export type { Authority, Pins } from './grant/authority.ts'

export { brandNames } from './webhook/headers.ts'
export type { EventEnvelope } from './webhook/event.ts'
export { mintSecret } from './webhook/secret.ts'
export { signatureHeader, standardSignature } from './webhook/sign.ts'
export { WebhookVerificationError, verifyWebhook } from './webhook/verify.ts'
export type { VerifiedWebhook } from './webhook/verify.ts'

export { DEFAULT_SCHEDULE, parseSchedule } from './delivery/schedule.ts'
export { transition } from './delivery/transition.ts'
export type { Attempt, DeliveryState, DeliveryStatus } from './delivery/state.ts'

export { createEngine } from './engine/engine.ts'
export type { Engine, EngineOptions } from './engine/engine.ts'
export { createKeyring, parseMasterKeys } from './engine/keyring.ts'
export { createVerifier } from './engine/verifier.ts'
export type { VerifiedKey, Verifier } from './engine/verifier.ts'
export type { Clock, EngineStore, RandomBytes, Sender } from './engine/ports.ts'
