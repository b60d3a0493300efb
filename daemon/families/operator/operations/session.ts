import type { Instant } from '../../../../lib/time.ts'
import { toIso } from '../../../../lib/time.ts'
import type { OperatorSession } from '../../../authority/operator-session.ts'
import { endOperatorSession as end } from '../../../authority/operator-session.ts'
import type { Principal } from '../../../authority/principal.ts'
import { SERVICE_ACCOUNT } from '../../../authority/principal.ts'
import { httpError } from '../../../operations/errors.ts'
import { operation } from '../../../operations/operation.ts'
import { operatorCookie, requireCookie } from '../../accounts/session.ts'
import { audit } from '../../audit/note.ts'
import { isoOrNull } from '../../wire.ts'
import { exampleOperatorSession, operatorSession } from '../schema.ts'

export const getOperatorSession = operation({
  effect: 'read',
  id: 'operator.session',
  summary: "Show until when the operator's session in this browser lasts",
  method: 'GET',
  path: '/v1/operator/session',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['operator'],
  input: {},
  output: operatorSession,
  errors: ['operator_required'],
  example: { response: exampleOperatorSession },
  run: ({ principal }) => Promise.resolve({ expires_at: isoOrNull(endOf(principal)) }),
})

export const endOperatorSession = operation({
  effect: 'write',
  id: 'operator.sign_out',
  summary: "End the operator's session in this browser at once",
  method: 'DELETE',
  path: '/v1/operator/session',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['operator'],
  input: {},
  output: operatorSession,
  errors: ['operator_required', 'session_required'],
  example: { response: exampleOperatorSession },
  async run(call) {
    const { platform, principal, tx, now, response } = call
    const session = sessionOf(principal)
    const cookie = requireCookie(operatorCookie(platform.baseUrl))
    await end(tx.accounts, session, now)
    await audit(call, {
      account_id: SERVICE_ACCOUNT,
      action: 'operator.signed_out',
      target_type: 'operator_session',
      target_id: session.id,
    })
    tx.afterCommit(() => {
      response.clearCookie(cookie)
    })
    return { expires_at: toIso(now) }
  },
})

/** The token itself is no session. */
function sessionOf(principal: Principal): OperatorSession {
  if (principal.type !== 'operator' || principal.session === undefined) {
    throw httpError('session_required', {
      message: 'The operator token is not a session: there is nothing to sign out of.',
    })
  }
  return principal.session
}

/** Null for the token itself, which does not end. */
function endOf(principal: Principal): Instant | null {
  return (principal.type === 'operator' && principal.session?.expires_at) || null
}
