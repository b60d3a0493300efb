import { operation } from '../../../operations/operation.ts'
import { httpError } from '../../../operations/errors.ts'
import { exampleSession, sessionRecord } from '../schema.ts'
import { findAccount } from '../service.ts'
import { toWireSession } from '../session.ts'

export const getSession = operation({
  effect: 'read',
  id: 'accounts.session',
  summary: 'Show who is signed in',
  method: 'GET',
  path: '/v1/session',
  access: 'user',
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
