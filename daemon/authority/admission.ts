/**
 * Decides whether a caller may do what it asks for. The check runs when the request comes in, again once
 * its body has arrived, in the unit of work, while the response is being sent, and later for work that
 * continues after the response.
 *
 * @module
 */
import type { Clock } from '../../lib/engine/ports.ts'
import type { Verifier } from '../../lib/engine/verifier.ts'
import { KeyhookError, kernelError } from '../../lib/errors.ts'
import { effectiveAuthority, holdsApp } from '../../lib/grant/authority.ts'
import { endOfChain, secretStatus } from '../../lib/key/lifecycle.ts'
import type { Creator, KeyRecord } from '../../lib/key/record.ts'
import type { RequiredScope } from '../../lib/scope/cover.ts'
import { allows, requiredScope } from '../../lib/scope/cover.ts'
import type { ScopeUniverse } from '../../lib/scope/syntax.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { Store, StoreTx } from '../../plugins/store/contract.ts'
import { httpError } from '../operations/errors.ts'
import type { KeyPrincipal, Principal } from './principal.ts'
import { standsOperatorSession } from './operator-session.ts'
import { requirePortalSession } from './portal-session.ts'
import { isSuspended, requireNotSuspended } from './suspension.ts'
import { isPinned, requireScope } from './principal.ts'

/** Callers that an operation allows. */
export type Access = NamedAccess | ScopedAccess

type NamedAccess =
  /** Any live key. */
  | 'key'
  | 'user'
  /** A signed-in user, or the operator on behalf of an account: never a key. */
  | 'owner'
  | 'operator'
  /** A session of the portal. */
  | 'portal'
  | 'public'

/** A key with the scope, a signed-in user, or the operator on behalf of an account. */
export interface ScopedAccess {
  readonly scope: string
  readonly pinned: 'allowed' | 'refused'
  /** Path parameter that names a key: a key needs no scope to act on itself. */
  readonly self?: string
  /** The operator may also act without an account, for the whole service. */
  readonly service?: boolean
  /** A session of the portal may call it too, with the scope. */
  readonly portal?: boolean
}

type Params = Readonly<Record<string, string>>

/** Checks that an operation makes of its caller. */
export interface Admission {
  /**
   * Refuses by caller and route alone, so that a refusal does not say what exists.
   *
   * @throws KeyhookError
   */
  check(principal: Principal, params: Params): void
  /**
   * Refuses a caller whose authority ended between its request and the unit of work. Without this check, a
   * slow body or work before the unit would let a revoked key write after its revocation was answered.
   *
   * @param principal undefined for an anonymous caller of what is public
   * @throws KeyhookError
   */
  confirm(tx: PlatformTx, principal: Principal | undefined, now: Instant): Promise<void>
}

export function admissionTo(
  { access, stepUp = false }: { readonly access: Access; readonly stepUp?: boolean | undefined },
  { universe, clock }: { readonly universe: ScopeUniverse; readonly clock: Pick<Clock, 'now'> },
): Admission {
  const check = checkOf(access, universe)
  // An operation on the key itself needs no scope.
  const held =
    typeof access === 'object' && access.self === undefined
      ? requiredScope(access.scope, universe)
      : undefined
  return {
    check(principal, params) {
      check(principal, params)
      if (stepUp) requireStepUp(principal, clock.now())
    },
    async confirm(tx, principal, now) {
      if (principal?.type === 'key') await confirmKey(tx, principal, held, now)
      if (principal?.type === 'user') {
        await requireNotSuspended(tx.accounts, principal.account_id)
        if ((await principal.stands?.(tx)) === false) throw httpError('session_expired')
      }
      if (principal?.type === 'operator' && principal.session !== undefined) {
        const stands = await standsOperatorSession(tx.accounts, principal.session)
        if (!stands || principal.session.expires_at <= now) throw httpError('session_expired')
      }
      if (principal?.type === 'portal') {
        await requireNotSuspended(tx.accounts, principal.account_id)
        await requirePortalSession(tx.portalSessions, principal, now)
      }
    },
  }
}

/**
 * Whether a caller may call an operation at all: on what exists, the operation decides. A key may call those
 * on itself.
 */
export function mayCall(principal: Principal, access: Access, universe: ScopeUniverse): boolean {
  const self = typeof access === 'object' ? access.self : undefined
  const params = self === undefined || principal.type !== 'key' ? {} : { [self]: principal.key.id }
  try {
    checkOf(access, universe)(principal, params)
    return true
  } catch (cause) {
    if (cause instanceof KeyhookError) return false
    throw cause
  }
}

function checkOf(access: Access, universe: ScopeUniverse): Check {
  const check = typeof access === 'object' ? scopedCheck(access, universe) : CHECKS[access]
  if (isOfPortal(access)) return check
  return (principal, params) => {
    if (principal.type === 'portal') throw httpError('outside_portal')
    check(principal, params)
  }
}

/** Closed by default: an operation that says nothing of the portal is not one of its own. */
export function isOfPortal(access: Access): boolean {
  return typeof access === 'object'
    ? access.portal === true
    : access === 'portal' || access === 'public'
}

type Check = (principal: Principal, params: Params) => void

const CHECKS: Readonly<Record<NamedAccess, Check>> = {
  key(principal) {
    if (principal.type !== 'key') throw httpError('key_required')
  },
  user(principal) {
    if (principal.type !== 'user') throw httpError('session_required')
  },
  owner(principal) {
    if (principal.type === 'key') throw httpError('owner_required')
    if (principal.account_id === null) throw httpError('account_required')
  },
  operator(principal) {
    if (principal.type !== 'operator') throw httpError('operator_required')
  },
  portal(principal) {
    if (principal.type !== 'portal') throw httpError('portal_session_required')
  },
  public: () => undefined,
}

function scopedCheck(
  { scope, pinned, self, service = false }: ScopedAccess,
  universe: ScopeUniverse,
): Check {
  const required = requiredScope(scope, universe)
  return (principal, params) => {
    if (self !== undefined && principal.type === 'key' && principal.key.id === params[self]) return
    if (principal.account_id === null && !service) throw httpError('account_required')
    requireScope(principal.authority, required)
    if (pinned === 'refused' && isPinned(principal)) throw kernelError('key_pinned')
  }
}

/** How long a sign-in or a repeated password allows operations that need step-up. */
const STEP_UP: Millis = 10 * MINUTE

/**
 * @throws KeyhookError `step_up_required` for a user whose last proof of identity is too old
 */
export function requireStepUp(principal: Principal | undefined, now: Instant): void {
  if (principal?.type === 'user' && principal.authenticated_at + STEP_UP <= now) {
    throw httpError('step_up_required')
  }
}

async function confirmKey(
  tx: StoreTx,
  { account_id, key, secret_version }: KeyPrincipal,
  required: RequiredScope | undefined,
  now: Instant,
): Promise<void> {
  await requireNotSuspended(tx.accounts, account_id)
  const chain = await liveChain(tx, account_id, key.id, now)
  if (!isLive(chain.at(-1), secret_version, now)) throw kernelError('key_rotated')
  if (required !== undefined) requireScope(effectiveAuthority(chain), required)
}

/**
 * Reads a key with its ancestors, root first, in the unit of work: never from a cache.
 *
 * @throws KeyhookError `invalid_key`, `key_revoked`, `key_expired` unless it lives
 */
export async function liveChain(
  { keys }: Pick<Store, 'keys'>,
  accountId: string,
  id: string,
  now: Instant,
): Promise<readonly KeyRecord[]> {
  const chain = await keys.chain(accountId, id)
  if (chain.length === 0) throw kernelError('invalid_key')
  const end = endOfChain(chain, now)
  if (end !== undefined) throw kernelError(`key_${end}`)
  return chain
}

/** Whether the value of that version still works: a rotation or its owner may have ended it. */
function isLive(key: KeyRecord | undefined, version: number, now: Instant): boolean {
  const value = key?.secrets.find((one) => one.version === version)
  if (key === undefined || value === undefined) return false
  return secretStatus(key, value, key.version, now) !== 'ended'
}

/** What a caller was admitted against, and when. */
export interface Admitted {
  /** `cacheVersion` of the verifier. */
  readonly version: number | undefined
  readonly at: Instant
}

/** Below this time since admission, a key cannot have ended: the body was already there. */
const AT_ONCE: Millis = 100

/** Whether no invalidation since the admission could have changed what a key may do. */
export function isUnchanged(
  principal: Principal | undefined,
  admitted: Admitted | undefined,
  { verifier, clock }: { readonly verifier: Verifier; readonly clock: Pick<Clock, 'now'> },
): boolean {
  return (
    principal?.type === 'key' &&
    admitted?.version !== undefined &&
    admitted.version === verifier.cacheVersion() &&
    clock.now() - admitted.at < AT_ONCE
  )
}

/** Work that continues after it was accepted. */
export interface AcceptedWork {
  readonly account_id: string
  readonly app_id: string
  readonly created_by: Creator
}

/**
 * Whether the caller that asked for work could still ask for it: queued work must not outlive the
 * revocation of its key. Work of the operator continues in any case, and work of a user continues after
 * their session ended.
 *
 * The value of the key does not matter: a rotated key is the same key.
 *
 * @param enough scopes of which a key must hold one
 */
export async function isStillAllowed(
  { universe }: { readonly universe: ScopeUniverse },
  tx: Pick<Store, 'accounts' | 'keys'>,
  { account_id, app_id, created_by }: AcceptedWork,
  enough: readonly string[],
  now: Instant,
): Promise<boolean> {
  if (created_by.type === 'operator') return true
  if (await isSuspended(tx.accounts, account_id)) return false
  if (created_by.type === 'user') return true
  // The portal asks for no such work.
  if (created_by.type === 'portal') return false
  const chain = await tx.keys.chain(account_id, created_by.id ?? '')
  if (chain.length === 0 || endOfChain(chain, now) !== undefined) return false
  const { scopes, pins } = effectiveAuthority(chain)
  return (
    holdsApp(pins, app_id) && enough.some((scope) => allows(scopes, requiredScope(scope, universe)))
  )
}
