import { operation } from '../../../operations/operation.ts'
import { httpError } from '../../../operations/errors.ts'
import { audit } from '../../audit/note.ts'
import { exampleSession, sessionRecord } from '../schema.ts'
import { findAccount } from '../service.ts'
import { toWireSession, requireSessionCookie } from '../session.ts'

export const getSession = operation({
  effect: 'read',
  id: 'accounts.session',
  summary: 'Show who is signed in',
  method: 'GET',
  path: '/v1/session',
  access: 'user',
  agent: { omit: "A browser's session, which no key has." },
  emits: ['accounts'],
  input: {},
  output: sessionRecord,
  errors: ['session_required', 'session_expired'],
  example: { response: exampleSession },
  async run({ platform: { store }, principal }) {
    if (principal.type !== 'user') throw httpError('session_required')
    const found = await store.accounts.session(principal.session_hash)
    if (found === undefined) throw httpError('session_expired')
    const account = await findAccount(store.accounts, found.user.account_id)
    return toWireSession(account, found.user, found.session.expires_at)
  },
})

export const signOut = operation({
  effect: 'write',
  id: 'accounts.sign_out',
  summary: 'Sign out; the session ends at once',
  method: 'DELETE',
  path: '/v1/session',
  access: 'user',
  agent: { omit: "A browser's session, which no key has." },
  emits: ['accounts'],
  input: {},
  output: sessionRecord,
  errors: ['session_required', 'session_expired'],
  example: { response: { ...exampleSession, expires_at: '2026-01-31T12:00:00.000Z' } },
  async run(call) {
    const { platform, principal, tx, now, response } = call
    if (principal.type !== 'user') throw httpError('session_required')
    const cookie = requireSessionCookie(platform)
    const account = await findAccount(tx.accounts, principal.account_id)
    await tx.accounts.deleteSessions({ hash: principal.session_hash })
    await audit(call, {
      account_id: account.id,
      action: 'user.signed_out',
      target_type: 'user',
      target_id: principal.user_id,
    })
    tx.afterCommit(() => {
      response.clearCookie(cookie)
    })
    return toWireSession(account, { id: principal.user_id, email: principal.email }, now)
  },
})
