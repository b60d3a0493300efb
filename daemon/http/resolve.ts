import { createHash, timingSafeEqual } from 'node:crypto'
import type { Context } from 'koa'
import type { VerifiedKey } from '../../lib/engine/verifier.ts'
import { kernelError } from '../../lib/errors.ts'
import { FULL_AUTHORITY } from '../../lib/grant/authority.ts'
import type { AccountReads } from '../../plugins/store/contract/accounts.ts'
import { httpError } from '../operations/errors.ts'
import { findAccount } from '../families/accounts/service.ts'
import { operatorCookie, sessionCookie, resumeSession } from '../families/accounts/session.ts'
import type { Platform } from '../platform.ts'
import type {
  KeyPrincipal,
  OperatorPrincipal,
  PortalPrincipal,
  Principal,
} from '../authority/principal.ts'
import { isAccountId } from '../authority/principal.ts'
import { standsOperatorSession } from '../authority/operator-session.ts'
import { isPortalToken, resumePortalSession } from '../authority/portal-session.ts'
import type { PrincipalResolver } from './state.ts'

/** Whether a token is the operator's; always false without a configured token. */
export type IsOperator = (token: string) => boolean

/** Digests have equal length, so the comparison reveals nothing, not even the token's length. */
export function operatorCheck(configured: string | undefined): IsOperator {
  if (configured === undefined) return () => false
  const expected = digest(configured)
  return (token) => timingSafeEqual(digest(token), expected)
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** RFC 6750, 2.1; the operator token may contain any visible character. */
const BEARER = /^bearer +([\x21-\x7e]+)$/i

/** A request with it acts with the session of the operator's browser, else with that of its user. */
const OPERATOR_HEADER = 'keyhook-operator'

/**
 * The daemon's resolver: a key, a session of the portal or the operator token in `Authorization`, else the session cookie of the operator's
 * where the request asks for it, else a user's. Nothing is read from the query.
 *
 * @param options.operatorToken undefined: nobody is the operator on this listener
 * @throws KeyhookError from the resolver: `missing_credentials`, `invalid_key` and the other refusals of
 *   a key, `account_not_found` for an unknown `Keyhook-Account`, `session_expired`, `account_suspended`
 */
export function createResolver(options: {
  readonly platform: Platform
  readonly operatorToken: string | undefined
}): PrincipalResolver {
  const { platform } = options
  const isOperator = operatorCheck(options.operatorToken)
  const cookie = sessionCookie(platform.baseUrl)
  const operator = operatorCookie(platform.baseUrl)
  return (ctx) => {
    const token = bearerOf(ctx)
    if (token !== undefined) return keptKey(platform, token) ?? byBearer(ctx, token)
    if (ctx.get(OPERATOR_HEADER) !== '') return byOperatorCookie(ctx)
    const value = cookie && ctx.cookies.get(cookie.name)
    return value ? resumeSession(platform, value, platform.clock.now()) : undefined
  }

  async function byOperatorCookie(ctx: Context): Promise<Principal | undefined> {
    const value = operator && ctx.cookies.get(operator.name)
    if (!value) return undefined
    const session = platform.operating?.sessions?.read(value, platform.clock.now())
    if (session === undefined || !(await standsOperatorSession(platform.store.accounts, session))) {
      throw httpError('session_expired')
    }
    return { ...(await byAccountHeader(ctx, platform)), session }
  }

  async function byBearer(ctx: Context, token: string): Promise<Principal> {
    const known = await byToken(platform, isOperator, token, () => byAccountHeader(ctx, platform))
    if (known === undefined) throw kernelError('invalid_key')
    return known
  }
}

/**
 * An embedder's resolver: keys and the operator token as in the daemon, and the embedder's own users. Its
 * accounts are its own, so the operator may name any.
 */
export function createEmbeddedResolver(options: {
  readonly platform: Platform
  readonly operatorToken: string | undefined
  readonly users: PrincipalResolver
}): PrincipalResolver {
  const { platform, users } = options
  const isOperator = operatorCheck(options.operatorToken)
  return async (ctx) => {
    const token = /^bearer /i.test(ctx.get('authorization')) ? bearerOf(ctx) : undefined
    const known =
      token && (await byToken(platform, isOperator, token, () => Promise.resolve(named(ctx))))
    if (known) return known
    const user = await users(ctx)
    if (user === undefined && token !== undefined) throw kernelError('invalid_key')
    return user
  }
}

/** The caller within the embedder's process: the operator on behalf of the named account. */
export const inProcessResolver: PrincipalResolver = (ctx) => Promise.resolve(named(ctx))

function named(ctx: Context): OperatorPrincipal {
  const account = ctx.get('keyhook-account')
  if (account === '') return asOperator(null)
  if (!isAccountId(account)) throw httpError('account_not_found')
  return asOperator(account)
}

/**
 * The caller on the control socket, which only the daemon's own user can open: always the operator. Without
 * `Keyhook-Account` it acts for the only account, or else for the only one with users: accounts that a
 * backend creates for its customers have none.
 */
export function createControlResolver(platform: Platform): PrincipalResolver {
  return async (ctx) => {
    const operator = await byAccountHeader(ctx, platform)
    if (operator.account_id !== null) return operator
    return asOperator(await defaultAccount(platform.store.accounts))
  }
}

async function defaultAccount(accounts: AccountReads): Promise<string | null> {
  const { rows } = await accounts.list({ limit: 2, after: null })
  const ids = rows.length > 1 ? await accounts.withUsers(2) : rows.map(({ id }) => id)
  return ids.length === 1 ? (ids[0] ?? null) : null
}

/**
 * @throws KeyhookError `missing_credentials` for an `Authorization` without a token
 */
function bearerOf(ctx: Context): string | undefined {
  const authorization = ctx.get('authorization')
  if (authorization === '') return undefined
  const [, token] = BEARER.exec(authorization) ?? []
  if (token === undefined) throw kernelError('missing_credentials')
  return token
}

/** Undefined for a token that is neither a key's, a session's of the portal, nor the operator's. */
async function byToken(
  platform: Platform,
  isOperator: IsOperator,
  token: string,
  operator: () => Promise<OperatorPrincipal>,
): Promise<KeyPrincipal | PortalPrincipal | OperatorPrincipal | undefined> {
  if (token.startsWith(platform.names.keyPrefix)) return byKey(platform, token)
  if (isPortalToken(platform, token)) return resumePortalSession(platform, token)
  return isOperator(token) ? operator() : undefined
}

async function byKey({ verifier }: Platform, value: string): Promise<KeyPrincipal> {
  return asKey(await verifier.verify(value))
}

/** Admits a cached key without waiting. */
function keptKey({ verifier, names }: Platform, token: string): KeyPrincipal | undefined {
  const verified = token.startsWith(names.keyPrefix) ? verifier.verifyCached(token) : undefined
  return verified && asKey(verified)
}

function asKey({ key, authority, secret, secret_version }: VerifiedKey): KeyPrincipal {
  return { type: 'key', account_id: key.account_id, key, authority, secret, secret_version }
}

async function byAccountHeader(ctx: Context, { store }: Platform): Promise<OperatorPrincipal> {
  const named = ctx.get('keyhook-account')
  return asOperator(named === '' ? null : (await findAccount(store.accounts, named)).id)
}

function asOperator(accountId: string | null): OperatorPrincipal {
  return { type: 'operator', account_id: accountId, authority: FULL_AUTHORITY }
}
