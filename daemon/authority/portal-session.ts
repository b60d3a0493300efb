import { FULL_AUTHORITY } from '../../lib/grant/authority.ts'
import type { Clock, RandomBytes } from '../../lib/engine/ports.ts'
import { hashToken, isToken, mintToken } from '../../lib/key/token.ts'
import { readScopes } from '../../lib/scope/canonical.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import { HOUR } from '../../lib/time.ts'
import type {
  PortalSessionReads,
  PortalSessionRecord,
} from '../../plugins/platform/contract/portal-sessions.ts'
import type { AccountReads } from '../../plugins/store/contract/accounts.ts'
import { httpError } from '../operations/errors.ts'
import { requireNotSuspended } from './suspension.ts'
import type { PortalPrincipal } from './principal.ts'

/** Lifetime of a session of the portal, however much it is used. */
export const PORTAL_SESSION_LIFE: Millis = HOUR

/** The part of a platform that names this service: the brand. */
interface Branded {
  readonly catalogue: { readonly service: string }
}

/** The part of a platform that keeps sessions. */
interface Keeping extends Branded {
  readonly store: {
    readonly portalSessions: PortalSessionReads
    readonly accounts: Pick<AccountReads, 'get'>
  }
  readonly clock: Pick<Clock, 'now'>
}

/** What a value is good for; each has a prefix of its own, and keys have a third. */
export type PortalValue = 'link' | 'session'

const INFIXES: Readonly<Record<PortalValue, string>> = { link: 'pl', session: 'ps' }

function prefixOf({ catalogue }: Branded, of: PortalValue): string {
  return `${catalogue.service}_${INFIXES[of]}_`
}

/** A new value, of the form of a key's; its hash alone is stored. */
export function mintPortalValue(
  platform: Branded & { readonly random: RandomBytes },
  of: PortalValue,
): { readonly value: string; readonly hash: string } {
  const { value } = mintToken(prefixOf(platform, of), platform.random)
  return { value, hash: hashToken(value) }
}

/** The stored hash of a value; undefined for any other text. */
export function hashPortalValue(
  platform: Branded,
  of: PortalValue,
  value: string,
): string | undefined {
  return isToken(prefixOf(platform, of), value) ? hashToken(value) : undefined
}

/** Whether a bearer token claims to be a session of the portal. */
export function isPortalToken(platform: Branded, token: string): boolean {
  return token.startsWith(prefixOf(platform, 'session'))
}

/**
 * Finds the session of a bearer token.
 *
 * @throws KeyhookError `session_expired`, `account_suspended`
 */
export async function resumePortalSession(
  platform: Keeping,
  token: string,
): Promise<PortalPrincipal> {
  const { store, clock } = platform
  const session = await requireSession(
    store.portalSessions,
    hashPortalValue(platform, 'session', token),
    clock.now(),
  )
  await requireNotSuspended(store.accounts, session.account_id)
  return asPortalPrincipal(session)
}

/** Who acts with a session that was opened. */
export function asPortalPrincipal({
  id,
  hash,
  account_id,
  scopes,
  expires_at,
}: PortalSessionRecord): PortalPrincipal {
  return {
    type: 'portal',
    account_id,
    session: { id, hash, expires_at },
    // Its keys outlive it: it bounds what they may do, not how long.
    authority: { ...FULL_AUTHORITY, scopes: readScopes(scopes) },
  }
}

const ENDED = 'The session of the portal has ended. Open the portal again from where you came.'

/** @throws KeyhookError `session_expired` once it has ended, read in a unit of work */
export async function requirePortalSession(
  sessions: PortalSessionReads,
  { session: { hash } }: PortalPrincipal,
  now: Instant,
): Promise<void> {
  await requireSession(sessions, hash, now)
}

async function requireSession(
  sessions: PortalSessionReads,
  hash: string | undefined,
  now: Instant,
): Promise<PortalSessionRecord> {
  const session = hash === undefined ? undefined : await sessions.get(hash)
  if (session === undefined || session.expires_at <= now) {
    throw httpError('session_expired', { message: ENDED })
  }
  return session
}
