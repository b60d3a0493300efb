import { FULL_AUTHORITY } from '../../lib/grant/authority.ts'
import type { Clock, RandomBytes } from '../../lib/engine/ports.ts'
import { kernelError } from '../../lib/errors.ts'
import { hashToken, isToken, mintToken } from '../../lib/key/token.ts'
import { readScopes } from '../../lib/scope/canonical.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import { HOUR } from '../../lib/time.ts'
import type { PortalSessionReads } from '../../plugins/platform/contract/portal-sessions.ts'
import type { AccountReads } from '../../plugins/store/contract/accounts.ts'
import { httpError } from '../operations/errors.ts'
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
  const hash = hashPortalValue(platform, 'session', token)
  const session = hash === undefined ? undefined : await store.portalSessions.get(hash)
  if (session === undefined || session.expires_at <= clock.now()) {
    throw httpError('session_expired', { message: ENDED })
  }
  const { id, account_id, scopes, expires_at } = session
  await requireNotSuspended(store.accounts, account_id)
  return {
    type: 'portal',
    account_id,
    session: { id, hash: session.hash, expires_at },
    // Its keys outlive it: it bounds what they may do, not how long.
    authority: { ...FULL_AUTHORITY, scopes: readScopes(scopes) },
  }
}

/** @throws KeyhookError `account_suspended`; the accounts of an embedder have no row, and are never suspended here */
export async function requireNotSuspended(
  accounts: Pick<AccountReads, 'get'>,
  id: string,
): Promise<void> {
  const account = await accounts.get(id)
  if (account !== undefined && account.suspended_at !== null) throw kernelError('account_suspended')
}

const ENDED = 'The session of the portal has ended. Open the portal again from where you came.'

/** @throws KeyhookError `session_expired` once it has ended, read in a unit of work */
export async function requirePortalSession(
  sessions: PortalSessionReads,
  { session: { hash } }: PortalPrincipal,
  now: Instant,
): Promise<void> {
  const session = await sessions.get(hash)
  if (session === undefined || session.expires_at <= now) {
    throw httpError('session_expired', { message: ENDED })
  }
}
