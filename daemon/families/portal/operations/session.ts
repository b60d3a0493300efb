import { toIso } from '../../../../lib/time.ts'
import { requireNotSuspended } from '../../../authority/suspension.ts'
import {
  PORTAL_SESSION_LIFE,
  asPortalPrincipal,
  hashPortalValue,
  mintPortalValue,
} from '../../../authority/portal-session.ts'
import type { PortalPrincipal, Principal } from '../../../authority/principal.ts'
import { httpError } from '../../../operations/errors.ts'
import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import { portalError } from '../errors.ts'
import {
  examplePortalSession,
  openedPortalSession,
  portalOpening,
  portalSession,
  toWirePortalSession,
} from '../schema.ts'

const OMITTED = { omit: 'A session of the portal, which no key has.' } as const

export const openPortalSession = operation({
  effect: 'write',
  id: 'portal.open',
  summary: 'Exchange the token of a link, once, for a session of an hour',
  method: 'POST',
  path: '/v1/portal/session',
  access: 'public',
  agent: OMITTED,
  emits: ['portal'],
  input: { body: portalOpening },
  output: openedPortalSession,
  status: 201,
  errors: ['invalid_portal_link', 'account_suspended'],
  example: {
    body: { token: 'service_pl_3fJ9kQ2x…' },
    response: { ...examplePortalSession, token: 'service_ps_3fJ9kQ2x…' },
  },
  secret: ['token'],
  bodyLimit: 8192,
  async run(call) {
    const { platform, tx, body, now } = call
    const link = hashPortalValue(platform, 'link', body.token)
    const { value, hash } = mintPortalValue(platform, 'session')
    const end = { hash, expires_at: now + PORTAL_SESSION_LIFE }
    // Spent by the statement that opens it: of concurrent callers one has a session.
    const opened = link && (await tx.portalSessions.open(link, end, now))
    if (!opened) throw portalError('invalid_portal_link')
    await requireNotSuspended(tx.accounts, opened.account_id)
    const { id, account_id } = opened
    const principal = asPortalPrincipal(opened)
    await audit(
      { ...call, principal },
      { account_id, action: 'portal.opened', target_type: 'portal_session', target_id: id },
    )
    return { ...toWirePortalSession(principal, platform), token: value }
  },
})

export const getPortalSession = operation({
  effect: 'read',
  id: 'portal.session',
  summary: 'Show what the session of the portal may do, and until when',
  method: 'GET',
  path: '/v1/portal/session',
  access: 'portal',
  agent: OMITTED,
  emits: ['portal'],
  input: {},
  output: portalSession,
  errors: ['portal_session_required', 'session_expired'],
  example: { response: examplePortalSession },
  run: ({ principal, platform }) =>
    Promise.resolve(toWirePortalSession(sessionOf(principal), platform)),
})

export const endPortalSession = operation({
  effect: 'write',
  id: 'portal.sign_out',
  summary: 'End the session of the portal at once',
  method: 'DELETE',
  path: '/v1/portal/session',
  access: 'portal',
  agent: OMITTED,
  emits: ['portal'],
  input: {},
  output: portalSession,
  errors: ['portal_session_required', 'session_expired'],
  example: { response: examplePortalSession },
  async run(call) {
    const { platform, principal, tx, now } = call
    const own = sessionOf(principal)
    const { account_id, session } = own
    await tx.portalSessions.end({ id: session.id })
    await audit(call, {
      account_id,
      action: 'portal.signed_out',
      target_type: 'portal_session',
      target_id: session.id,
    })
    return { ...toWirePortalSession(own, platform), expires_at: toIso(now) }
  },
})

function sessionOf(principal: Principal): PortalPrincipal {
  if (principal.type !== 'portal') throw httpError('portal_session_required')
  return principal
}
