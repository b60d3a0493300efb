import { createHash } from 'node:crypto'
import type { z } from 'zod'
import type { Instant, Millis } from '../../../lib/time.ts'
import { DAY, HOUR, MINUTE, toIso } from '../../../lib/time.ts'
import { kernelError } from '../../../lib/errors.ts'
import { FULL_AUTHORITY } from '../../../lib/grant/authority.ts'
import type { StoreTx } from '../../../plugins/store/contract.ts'
import type {
  AccountRecord,
  SessionRecord,
  UserRecord,
} from '../../../plugins/store/contract/accounts.ts'
import { httpError } from '../../operations/errors.ts'
import type { ResponseCookie } from '../../operations/call.ts'
import type { Platform } from '../../platform.ts'
import type { Principal, UserPrincipal } from '../../authority/principal.ts'
import type { sessionRecord } from './schema.ts'

/** Maximum lifetime of a session. */
export const SESSION_LIFE: Millis = 30 * DAY
/** Maximum idle time of a session. */
const SESSION_IDLE: Millis = 12 * HOUR
/** Maximum sessions of a user: one more ends the one that was not used for longest. */
export const MOST_SESSIONS = 100
/** Resolution of the last use, so that reads do not write. */
const SEEN_EVERY: Millis = MINUTE
const SECRET_BYTES = 32

/** A random value that only its holder sees. */
export function mintSecret({ random }: Pick<Platform, 'random'>): string {
  return Buffer.from(random(SECRET_BYTES)).toString('base64url')
}

/** Stored hash of a session's or setup link's value. 256 random bits need no slow hash. */
export function hashSecret(value: string): string {
  return createHash('sha256').update(value).digest('hex')
}

/**
 * @throws KeyhookError `insecure_transport` when a cookie would cross the network unencrypted
 */
export function requireSessionCookie({ baseUrl }: Pick<Platform, 'baseUrl'>): ResponseCookie {
  return requireCookie(sessionCookie(baseUrl))
}

/**
 * @throws KeyhookError `insecure_transport` when the cookie would cross the network unencrypted
 */
export function requireCookie(cookie: ResponseCookie | undefined): ResponseCookie {
  if (cookie === undefined) throw httpError('insecure_transport')
  return cookie
}

/** A new session; its value is set as a cookie once the unit of work has committed. */
export interface OpenedSession {
  readonly value: string
  readonly principal: UserPrincipal
  readonly record: z.input<typeof sessionRecord>
}

/** Creates a session, always with a new value. */
export async function openSession(
  tx: StoreTx,
  platform: Pick<Platform, 'random'>,
  account: AccountRecord,
  user: UserRecord,
  now: Instant,
): Promise<OpenedSession> {
  const value = mintSecret(platform)
  const hash = hashSecret(value)
  const session: SessionRecord = {
    hash,
    user_id: user.id,
    created_at: now,
    expires_at: now + SESSION_LIFE,
    seen_at: now,
    authenticated_at: now,
  }
  await tx.accounts.deleteSessions({ user_id: user.id, latest: MOST_SESSIONS - 1 })
  await tx.accounts.insertSession(session)
  return {
    value,
    principal: toUserPrincipal(user, session),
    record: toWireSession(account, user, session.expires_at),
  }
}

/**
 * Finds the user of a cookie, and records its use.
 *
 * @throws KeyhookError `session_expired`, `account_suspended`
 */
export async function resumeSession(
  { store, queues }: Pick<Platform, 'store' | 'queues'>,
  value: string,
  now: Instant,
): Promise<UserPrincipal> {
  const hash = hashSecret(value)
  const found = await store.accounts.session(hash)
  if (found === undefined || hasEnded(found.session, now)) throw httpError('session_expired')
  const account = await store.accounts.get(found.user.account_id)
  if (account === undefined) throw httpError('session_expired')
  if (account.suspended_at !== null) throw kernelError('account_suspended')
  if (found.session.seen_at + SEEN_EVERY <= now) {
    const turn = { holder: account.id, kept: true }
    await queues.writes(turn, () =>
      // Nobody caches it: this unit need not wait for changes of others either.
      store.write((tx) => tx.accounts.touchSession(hash, { seen_at: now }), {
        whenApplied: () => undefined,
      }),
    )
  }
  return toUserPrincipal(found.user, found.session)
}

/** Whether its life is over, or it was not used for too long. */
export function hasEnded({ expires_at, seen_at }: SessionRecord, now: Instant): boolean {
  return expires_at <= now || seen_at + SESSION_IDLE <= now
}

function toUserPrincipal(
  user: UserRecord,
  { hash, authenticated_at }: SessionRecord,
): UserPrincipal {
  return {
    type: 'user',
    account_id: user.account_id,
    user_id: user.id,
    email: user.email,
    session_hash: hash,
    authenticated_at,
    authority: FULL_AUTHORITY,
    stands: async (tx) => (await tx.accounts.session(hash)) !== undefined,
  }
}

/**
 * @throws KeyhookError `session_required` for an embedder's users too: their sessions are the embedder's
 */
export function requireUser(principal: Principal): UserPrincipal {
  if (principal.type !== 'user') throw httpError('session_required')
  return principal
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

/**
 * The session's cookie for the address that clients see: `__Host-keyhook` on https; on loopback http
 * `keyhook`, without `Secure`, which some browsers refuse there; undefined on other http, where
 * everybody on the way could read it.
 *
 * Name prefix: draft-ietf-httpbis-rfc6265bis, 4.1.3.2.
 *
 * @example
 * sessionCookie('https://keys.example.com')?.name // '__Host-keyhook'
 * sessionCookie('http://keys.example.com') // undefined
 */
export function sessionCookie(baseUrl: string): ResponseCookie | undefined {
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol === 'https:') return { name: '__Host-keyhook', secure: true, sameSite: 'lax' }
  if (!isLoopback(hostname)) return undefined
  return { name: 'keyhook', secure: false, sameSite: 'strict' }
}

/**
 * The cookie of the operator's browser. No link from elsewhere carries it, and a request uses it only when it says
 * so: the pages of a user, in the same browser, never act as the operator.
 */
export function operatorCookie(baseUrl: string): ResponseCookie | undefined {
  const cookie = sessionCookie(baseUrl)
  return cookie && { ...cookie, name: `${cookie.name}-operator`, sameSite: 'strict' }
}

/** Host of a parsed URL, in which every spelling of an IPv4 address is the dotted one. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  )
}
