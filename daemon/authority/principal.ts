import { kernelError } from '../../lib/errors.ts'
import type { Authority } from '../../lib/grant/authority.ts'
import type { RequiredScope } from '../../lib/scope/cover.ts'
import { allows } from '../../lib/scope/cover.ts'
import type { Instant } from '../../lib/time.ts'
import type { StoreTx } from '../../plugins/store/contract.ts'
import type { Creator, KeyRecord } from '../../lib/key/record.ts'
import type { OperatorSession } from './operator-session.ts'
import { networkOf } from '../limits/network.ts'

/** The caller of an operation. A user and the operator have full authority over their account. */
export type Principal = KeyPrincipal | UserPrincipal | PortalPrincipal | OperatorPrincipal

interface Acting {
  readonly authority: Authority
}

export interface KeyPrincipal extends Acting {
  readonly type: 'key'
  readonly account_id: string
  readonly key: KeyRecord
  /** `previous`: a replaced value in its grace period. It reads and writes, but manages no keys. */
  readonly secret: 'current' | 'previous'
  /** Version of the presented value. */
  readonly secret_version: number
}

export interface UserPrincipal extends Acting {
  readonly type: 'user'
  readonly account_id: string
  readonly user_id: string
  readonly email: string
  readonly session_hash: string
  /** When the user last proved their identity; sensitive operations need it to be recent. */
  readonly authenticated_at: Instant
  /** Whether the session is still valid, read in a unit of work. */
  stands?(tx: StoreTx): Promise<boolean>
}

/**
 * Somebody of an account in the portal, with the scopes that the operator or the embedder gave to its link. It may
 * call the operations that say so, and no other.
 */
export interface PortalPrincipal extends Acting {
  readonly type: 'portal'
  readonly account_id: string
  readonly session: {
    /** Neither its value nor a part of it. */
    readonly id: string
    /** Stored hash of its value. */
    readonly hash: string
    readonly expires_at: Instant
  }
}

/** Whoever runs the daemon, on behalf of an account or of none. */
export interface OperatorPrincipal extends Acting {
  readonly type: 'operator'
  readonly account_id: string | null
  /** The session of the operator's browser; undefined for the token itself. */
  readonly session?: OperatorSession
}

/** A principal as records and audit rows store it. */
export function creatorOf(principal: Principal): Creator {
  if (principal.type === 'key') return { type: 'key', id: principal.key.id }
  if (principal.type === 'user') return { type: 'user', id: principal.user_id }
  if (principal.type === 'portal') return { type: 'portal', id: principal.session.id }
  return { type: 'operator', id: null }
}

/** True for a key that is pinned to apps. */
export function isPinned(principal: Principal): boolean {
  return principal.authority.pins !== 'all'
}

/** The apps that a principal is pinned to, as a list filter; null for none. */
export function pinsOf({ authority: { pins } }: Principal): readonly string[] | null {
  return pins === 'all' ? null : [...pins].sort()
}

/** Account id of records that belong to the whole service. */
export const SERVICE_ACCOUNT = ''

/** The account that a scoped operation acts in; `admissionTo` refuses callers without one. */
export function accountOf(principal: Principal): string {
  if (principal.account_id === null) throw new TypeError('the operation needs an account')
  return principal.account_id
}

/** Whether a text has the form of an account id: opaque, and safe in a header. */
export function isAccountId(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(text)
}

/** A caller that requests are counted for. */
export interface CountedCaller {
  readonly type: Principal['type'] | 'network'
  readonly id: string
}

/** The key, user, session of the portal, operator or anonymous network that a request is counted for. */
export function callerOf(principal: Principal | undefined, ip: string): CountedCaller {
  if (principal === undefined) return { type: 'network', id: networkOf(ip) }
  const { type, id } = creatorOf(principal)
  return { type, id: id ?? principal.account_id ?? '' }
}

/** Type and id of a caller, joined by a space. */
export function callerName(principal: Principal | undefined, ip: string): string {
  const { type, id } = callerOf(principal, ip)
  return `${type} ${id}`
}

/** The account whose share a key, a user or a session of the portal uses; undefined for the operator. */
export function memberAccountOf(principal: Principal | undefined): string | undefined {
  return principal === undefined || principal.type === 'operator' ? undefined : principal.account_id
}

/**
 * Name that shares of the process are counted under: the id of an account for its members, else the caller, whose
 * name contains a space and so is no account's.
 */
export function holderOf(principal: Principal | undefined, ip: string): string {
  return memberAccountOf(principal) ?? callerName(principal, ip)
}

/**
 * @throws KeyhookError `insufficient_scope` naming the missing scopes
 */
export function requireScope({ scopes }: Pick<Authority, 'scopes'>, required: RequiredScope): void {
  if (allows(scopes, required)) return
  throw kernelError('insufficient_scope', {
    message: `The key lacks the scope ${required}.`,
    details: { required_scopes: [required], missing_scopes: [required] },
  })
}

/** Protocol and client of a call. */
export interface Via {
  readonly protocol: 'rest' | 'mcp' | 'a2a'
  /** Its name for itself: untrusted, and empty without one. */
  readonly client: string
}

/** Characters of a client's name that are kept, and those that are looked at for them. */
const MAX_CLIENT = 100
const LOOKED_AT = 10 * MAX_CLIENT

/** The part of a client's name for itself that is recorded: printable ASCII; null without any. */
export function printableClient(name: string): string | null {
  const kept = name
    .slice(0, LOOKED_AT)
    .replaceAll(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, MAX_CLIENT)
  // Copied, because a slice keeps all of its text in memory, which may have megabytes.
  return kept === '' ? null : Buffer.from(kept, 'latin1').toString('latin1')
}
