import { createHash } from 'node:crypto'
import type { z } from 'zod'
import type { Instant, Millis } from '../../../lib/time.ts'
import { DAY, toIso } from '../../../lib/time.ts'
import { FULL_AUTHORITY } from '../../../lib/grant/authority.ts'
import type { StoreTx } from '../../../plugins/store/contract.ts'
import type { AccountRecord, UserRecord } from '../../../plugins/store/contract/accounts.ts'
import type { Platform } from '../../platform.ts'
import type { UserPrincipal } from '../../principal.ts'
import type { SessionCookie } from './session-cookie.ts'
import { sessionCookie } from './session-cookie.ts'
import { accountError } from './errors.ts'
import type { sessionRecord } from './schema.ts'

/** How long a session lasts, however much it is used. */
export const SESSION_LIFE: Millis = 30 * DAY
const SECRET_BYTES = 32

/** A random value that is shown to its holder alone. */
export function mintSecret({ random }: Pick<Platform, 'random'>): string {
  return Buffer.from(random(SECRET_BYTES)).toString('base64url')
}

/** What is kept of a session's or a setup link's value. 256 random bits need no slow hash. */
export function hashSecret(value: string): string {
  return createHash('sha256').update(value).digest('hex')
}

/** @throws KeyhookError `insecure_transport` where a cookie would cross the network in the clear */
export function requireSessionCookie({ baseUrl }: Pick<Platform, 'baseUrl'>): SessionCookie {
  const cookie = sessionCookie(baseUrl)
  if (cookie === undefined) throw accountError('insecure_transport')
  return cookie
}

/** A session that has begun; its value goes into the cookie once the unit of work has committed. */
export interface OpenedSession {
  readonly value: string
  readonly principal: UserPrincipal
  readonly record: z.input<typeof sessionRecord>
}

/** Begins a session, always under a new value. */
export async function openSession(
  tx: StoreTx,
  platform: Pick<Platform, 'random'>,
  account: AccountRecord,
  user: UserRecord,
  now: Instant,
): Promise<OpenedSession> {
  const value = mintSecret(platform)
  const hash = hashSecret(value)
  const expires_at = now + SESSION_LIFE
  await tx.accounts.insertSession({ hash, user_id: user.id, created_at: now, expires_at })
  return {
    value,
    principal: toUserPrincipal(user, hash),
    record: toWireSession(account, user, expires_at),
  }
}

export function toUserPrincipal(user: UserRecord, sessionHash: string): UserPrincipal {
  return {
    type: 'user',
    account_id: user.account_id,
    user_id: user.id,
    email: user.email,
    session_hash: sessionHash,
    authority: FULL_AUTHORITY,
    stands: async (tx) => (await tx.accounts.session(sessionHash)) !== undefined,
  }
}

export function toWireSession(
  account: AccountRecord,
  user: Pick<UserRecord, 'id' | 'email'>,
  expiresAt: Instant,
): z.input<typeof sessionRecord> {
  return {
    user: { id: user.id, email: user.email },
    account: { id: account.id, name: account.name, plan: account.plan },
    expires_at: toIso(expiresAt),
  }
}
