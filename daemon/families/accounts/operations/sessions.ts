import { createHash } from 'node:crypto'
import { z } from 'zod'
import { toIso } from '../../../../lib/time.ts'
import type { Instant } from '../../../../lib/time.ts'
import type { AccountReads, SessionRecord } from '../../../../plugins/store/contract/accounts.ts'
import type { UserPrincipal } from '../../../authority/principal.ts'
import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import { accountError } from '../errors.ts'
import { exampleUserSession, userSession, userSessionList } from '../schema.ts'
import { MOST_SESSIONS, hasEnded, requireUser } from '../session.ts'

const OMITTED = { omit: "A browser's session, which no key has." } as const

export const listSessions = operation({
  effect: 'read',
  id: 'accounts.list_sessions',
  summary: 'List your open sessions, last used first',
  method: 'GET',
  path: '/v1/sessions',
  access: 'user',
  agent: OMITTED,
  emits: ['accounts'],
  input: {},
  output: userSessionList,
  errors: ['session_required', 'session_expired'],
  example: { response: { data: [exampleUserSession] } },
  async run({ platform: { store }, principal, now }) {
    const user = requireUser(principal)
    return { data: (await openOf(store.accounts, user, now)).map((one) => toWire(one, user)) }
  },
})

export const endSession = operation({
  effect: 'write',
  id: 'accounts.end_session',
  summary: 'End one of your sessions at once',
  method: 'DELETE',
  path: '/v1/sessions/{session_id}',
  access: 'user',
  agent: OMITTED,
  emits: ['accounts'],
  input: { params: z.strictObject({ session_id: z.string().regex(/^[A-Za-z0-9_-]{22}$/) }) },
  output: userSession,
  errors: ['session_required', 'session_expired', 'session_not_found'],
  example: {
    params: { session_id: exampleUserSession.id },
    response: { ...exampleUserSession, current: false },
  },
  async run(call) {
    const { tx, principal, params, now } = call
    const user = requireUser(principal)
    const open = await openOf(tx.accounts, user, now)
    const session = open.find(({ hash }) => idOf(hash) === params.session_id)
    if (session === undefined) throw accountError('session_not_found')
    await tx.accounts.deleteSessions({ hash: session.hash })
    await audit(call, {
      account_id: user.account_id,
      action: 'session.ended',
      target_type: 'session',
      target_id: params.session_id,
    })
    return toWire(session, user)
  },
})

export const endOtherSessions = operation({
  effect: 'write',
  id: 'accounts.end_other_sessions',
  summary: 'End all your sessions except this one',
  method: 'DELETE',
  path: '/v1/sessions',
  access: 'user',
  agent: OMITTED,
  emits: ['accounts'],
  input: {},
  output: userSessionList,
  errors: ['session_required', 'session_expired'],
  example: { response: { data: [exampleUserSession] } },
  async run(call) {
    const { tx, principal, now } = call
    const user = requireUser(principal)
    await tx.accounts.deleteSessions({ user_id: user.user_id, kept: user.session_hash })
    await audit(call, {
      account_id: user.account_id,
      action: 'session.others_ended',
      target_type: 'user',
      target_id: user.user_id,
    })
    return { data: (await openOf(tx.accounts, user, now)).map((one) => toWire(one, user)) }
  },
})

async function openOf(
  accounts: Pick<AccountReads, 'sessionsOf'>,
  { user_id }: UserPrincipal,
  now: Instant,
): Promise<readonly SessionRecord[]> {
  const sessions = await accounts.sessionsOf(user_id, MOST_SESSIONS)
  return sessions.filter((session) => !hasEnded(session, now))
}

/** Says nothing about the value, nor about its stored hash. */
function idOf(hash: string): string {
  return createHash('sha256').update(`session ${hash}`).digest('base64url').slice(0, 22)
}

function toWire(
  session: SessionRecord,
  { session_hash }: UserPrincipal,
): z.input<typeof userSession> {
  return {
    id: idOf(session.hash),
    current: session.hash === session_hash,
    created_at: toIso(session.created_at),
    seen_at: toIso(session.seen_at),
    expires_at: toIso(session.expires_at),
  }
}
