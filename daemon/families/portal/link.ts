import type { FieldError } from '../../../lib/errors.ts'
import { printScopes } from '../../../lib/scope/canonical.ts'
import type { ScopeSet, ScopeUniverse } from '../../../lib/scope/syntax.ts'
import { allows, requiredScope } from '../../../lib/scope/cover.ts'
import { SPEC_SCOPES, parseScopes } from '../../../lib/scope/syntax.ts'
import type { Instant } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'
import type { Changing } from '../../platform.ts'
import { requireNotSuspended } from '../../authority/suspension.ts'
import { mintPortalValue } from '../../authority/portal-session.ts'
import { audit } from '../audit/note.ts'
import { portalError } from './errors.ts'

/** Seconds in which a link must be followed. */
export const LINK_SECONDS = { byDefault: 300, least: 1, most: 3600 } as const

const DEFAULT_SCOPES = ['keys:read', 'keys:write', 'webhooks:read', 'webhooks:write'] as const

const FAMILIES: ReadonlySet<string> = new Set(['keys', 'webhooks'])
/** Types that an account or the operator declares are subscribed to, and their events read, with it. */
const EVENTS = 'events:read'

/** Without one of them the portal would have no page. */
const PAGES = ['keys:read', 'webhooks:read'] as const
const NO_PAGE: FieldError = {
  location: 'body.scopes',
  code: 'scope_not_of_portal',
  message: 'Name keys:read or webhooks:read too: without both the portal has no page to show.',
}

/** What a link is created with. */
export interface LinkOptions {
  readonly scopes?: readonly string[] | undefined
  /** Seconds. */
  readonly expires_in?: number | undefined
}

/** A link, whose address nobody can be shown again. */
export interface PortalLink {
  readonly id: string
  readonly url: string
  readonly scopes: ScopeSet
  readonly expires_at: Instant
}

/**
 * Creates a link that opens the portal of an account once.
 *
 * @throws KeyhookError `invalid_scope`, `scope_not_of_portal`, `account_suspended`
 */
export async function insertPortalLink(
  change: Changing,
  account_id: string,
  { scopes: requested = DEFAULT_SCOPES, expires_in = LINK_SECONDS.byDefault }: LinkOptions,
): Promise<PortalLink> {
  const { platform, tx, now } = change
  const scopes = parsePortalScopes(requested, platform.universe)
  await requireNotSuspended(tx.accounts, account_id)
  const { value, hash } = mintPortalValue(platform, 'link')
  const id = platform.newId()
  const expires_at = now + expires_in * SECOND
  await tx.portalSessions.insert({
    id,
    account_id,
    hash,
    scopes: printScopes(scopes),
    created_at: now,
    opened_at: null,
    expires_at,
  })
  await audit(change, {
    account_id,
    action: 'portal_link.created',
    target_type: 'portal_session',
    target_id: id,
  })
  // A fragment is sent to no server and in no Referer.
  return { id, url: `${platform.baseUrl}/portal#token=${value}`, scopes, expires_at }
}

/** Ends the sessions of an account, and its links that were not followed; returns their number. */
export async function endPortalSessions(change: Changing, account_id: string): Promise<number> {
  const ended = await change.tx.portalSessions.end({ account_id })
  await audit(change, {
    account_id,
    action: 'portal.sessions_ended',
    target_type: 'account',
    target_id: account_id,
  })
  return ended
}

/**
 * A session reaches keys and webhooks. The scopes of an embedder's own families reach no operation of the portal,
 * and are there for the keys that it creates.
 */
function parsePortalScopes(requested: readonly string[], universe: ScopeUniverse): ScopeSet {
  const scopes = parseScopes(requested, universe, 'body.scopes')
  const errors: FieldError[] = requested.flatMap((scope, index) =>
    isPortalScope(scope)
      ? []
      : [
          {
            location: `body.scopes[${index}]`,
            code: 'scope_not_of_portal',
            message: `${scope} reaches more than keys and webhooks.`,
          },
        ],
  )
  if (errors.length > 0) throw portalError('scope_not_of_portal', { errors })
  if (!PAGES.some((scope) => allows(scopes, requiredScope(scope, universe)))) {
    throw portalError('scope_not_of_portal', { errors: [NO_PAGE] })
  }
  return scopes
}

function isPortalScope(scope: string): boolean {
  const family = scope.slice(0, scope.indexOf(':'))
  if (FAMILIES.has(family) || scope === EVENTS) return true
  return family !== '*' && !Object.hasOwn(SPEC_SCOPES, family)
}
