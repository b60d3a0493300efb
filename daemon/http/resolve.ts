import { createHash, timingSafeEqual } from 'node:crypto'
import type { Context } from 'koa'
import { kernelError } from '../../lib/errors.ts'
import { FULL_AUTHORITY } from '../../lib/grant/authority.ts'
import { findAccount } from '../families/accounts/service.ts'
import { hashSecret, toUserPrincipal } from '../families/accounts/session.ts'
import type { Platform } from '../platform.ts'
import type { KeyPrincipal, OperatorPrincipal, UserPrincipal } from '../principal.ts'
import { httpError } from '../errors.ts'
import { sessionCookie } from '../families/accounts/session-cookie.ts'
import type { PrincipalResolver } from './state.ts'

/** RFC 6750, 2.1; the operator's token may hold any visible character. */
const BEARER = /^bearer +([\x21-\x7e]+)$/i

/**
 * The daemon's way to find out who asks: a key or the operator's token in `Authorization`, else a
 * user's session in its cookie. Nothing is ever read from the query.
 *
 * @param options.operatorToken undefined: nobody is the operator over this listener
 * @throws KeyhookError from the resolver: `missing_credentials`, `invalid_key` and the other refusals
 *   of a key, `account_not_found` for an unknown `Keyhook-Account`, `session_expired`,
 *   `account_suspended`
 */
export function createResolver(options: {
  readonly platform: Platform
  readonly operatorToken: string | undefined
}): PrincipalResolver {
  const { platform } = options
  const operator = options.operatorToken ? digest(options.operatorToken) : undefined
  const cookie = sessionCookie(platform.baseUrl)
  return async (ctx) => {
    const authorization = ctx.get('authorization')
    if (authorization !== '') return byBearer(ctx, platform, operator, authorization)
    const value = cookie && ctx.cookies.get(cookie.name)
    return value ? bySession(platform, value) : undefined
  }
}

/**
 * Who asks over the control socket, which only the daemon's own user can open: always the operator.
 * Without `Keyhook-Account` it acts for the only account there is, or for none.
 */
export function createControlResolver(platform: Platform): PrincipalResolver {
  return async (ctx) => {
    const named = await byAccountHeader(ctx, platform)
    if (named.account_id !== null) return named
    const { rows } = await platform.store.accounts.list({ limit: 2, after: null })
    return rows.length === 1 ? asOperator(rows[0]?.id ?? null) : named
  }
}

async function byBearer(
  ctx: Context,
  platform: Platform,
  operator: Buffer | undefined,
  authorization: string,
): Promise<KeyPrincipal | OperatorPrincipal> {
  const [, token] = BEARER.exec(authorization) ?? []
  if (token === undefined) throw kernelError('missing_credentials')
  if (token.startsWith(platform.names.keyPrefix)) return byKey(platform, token)
  // Digests are of one length, so the comparison tells nothing, not even the token's length.
  if (operator === undefined || !timingSafeEqual(digest(token), operator)) {
    throw kernelError('invalid_key')
  }
  return byAccountHeader(ctx, platform)
}

async function byKey({ verifier }: Platform, value: string): Promise<KeyPrincipal> {
  const verified = await verifier.verify(value)
  return { type: 'key', account_id: verified.key.account_id, ...verified }
}

async function byAccountHeader(ctx: Context, { store }: Platform): Promise<OperatorPrincipal> {
  const named = ctx.get('keyhook-account')
  return asOperator(named === '' ? null : (await findAccount(store.accounts, named)).id)
}

function asOperator(accountId: string | null): OperatorPrincipal {
  return { type: 'operator', account_id: accountId, authority: FULL_AUTHORITY }
}

async function bySession({ store, clock }: Platform, value: string): Promise<UserPrincipal> {
  const hash = hashSecret(value)
  const found = await store.accounts.session(hash)
  if (found === undefined || found.session.expires_at <= clock.now()) {
    throw httpError('session_expired')
  }
  const account = await store.accounts.get(found.user.account_id)
  if (account === undefined) throw httpError('session_expired')
  if (account.suspended_at !== null) throw kernelError('account_suspended')
  return toUserPrincipal(found.user, hash)
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
