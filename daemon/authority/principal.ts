import { kernelError } from '../../lib/errors.ts'
import type { Authority } from '../../lib/grant/authority.ts'
import type { RequiredScope } from '../../lib/scope/cover.ts'
import { allows } from '../../lib/scope/cover.ts'
import type { Instant } from '../../lib/time.ts'
import type { StoreTx } from '../../plugins/store/contract.ts'
import type { Creator, KeyRecord } from '../../lib/key/record.ts'
import { networkOf } from '../limits/network.ts'

/** Who asks. Every principal but a key holds full authority over its account. */
export type Principal = KeyPrincipal | UserPrincipal | OperatorPrincipal

interface Acting {
  readonly authority: Authority
}

export interface KeyPrincipal extends Acting {
  readonly type: 'key'
  readonly account_id: string
  readonly key: KeyRecord
  /** `previous`: a replaced value in its grace period; it reads and writes, but manages no keys. */
  readonly secret: 'current' | 'previous'
  /** The version of the value that was presented. */
  readonly secret_version: number
}

export interface UserPrincipal extends Acting {
  readonly type: 'user'
  readonly account_id: string
  readonly user_id: string
  readonly email: string
  readonly session_hash: string
  /** When the user last proved who they are: what is sensitive needs that to be recent. */
  readonly authenticated_at: Instant
  /** Whether the sign-in still holds, as a unit of work sees it. */
  stands?(tx: StoreTx): Promise<boolean>
}

/** Who runs the daemon, on behalf of an account or of none. */
export interface OperatorPrincipal extends Acting {
  readonly type: 'operator'
  readonly account_id: string | null
}

/** How a principal is kept in records and audit rows. */
export function creatorOf(principal: Principal): Creator {
  if (principal.type === 'key') return { type: 'key', id: principal.key.id }
  if (principal.type === 'user') return { type: 'user', id: principal.user_id }
  return { type: 'operator', id: null }
}

/** True for a key that is pinned to apps. */
export function isPinned(principal: Principal): boolean {
  return principal.authority.pins !== 'all'
}

/** The apps that a principal is pinned to, as a filter of lists; null for none. */
export function pinsOf({ authority: { pins } }: Principal): readonly string[] | null {
  return pins === 'all' ? null : [...pins].sort()
}

/** Where the operator keeps what is of the whole service and of no account. */
export const SERVICE_ACCOUNT = ''

/** The account that a scoped operation acts in; `authorize` refused whoever has none. */
export function accountOf(principal: Principal): string {
  if (principal.account_id === null) throw new TypeError('the operation needs an account')
  return principal.account_id
}

/** Whether a text is such as ids of accounts are: opaque, and safe in a header. */
export function isAccountId(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(text)
}

/** Whom requests are counted for: a key, a user, the operator, or the network of an anonymous caller. */
export function callerOf(principal: Principal | undefined, ip: string): string {
  if (principal === undefined) return `network ${networkOf(ip)}`
  if (principal.type === 'key') return `key ${principal.key.id}`
  return principal.type === 'user'
    ? `user ${principal.user_id}`
    : `operator ${principal.account_id ?? ''}`
}

/** The account whose share a caller uses: of its keys and users, not of the operator. */
export function memberAccountOf(principal: Principal | undefined): string | undefined {
  return principal === undefined || principal.type === 'operator' ? undefined : principal.account_id
}

/** Whom shares of the process are counted for: the account of its members, any other caller itself. */
export function holderOf(principal: Principal | undefined, ip: string): string {
  const account = memberAccountOf(principal)
  return account === undefined ? callerOf(principal, ip) : `account ${account}`
}

/** @throws KeyhookError `insufficient_scope` naming what is missing */
export function requireScope({ scopes }: Pick<Authority, 'scopes'>, required: RequiredScope): void {
  if (allows(scopes, required)) return
  throw kernelError('insufficient_scope', {
    message: `The key lacks the scope ${required}.`,
    details: { required_scopes: [required], missing_scopes: [required] },
  })
}
