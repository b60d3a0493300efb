import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import type { Passwords } from '../password.ts'
import { credentials, exampleCredentials, exampleUser, toWireUser, userRecord } from '../schema.ts'
import { findUser } from '../service.ts'

export function resetPassword(passwords: Passwords) {
  return operation({
    effect: 'write',
    id: 'accounts.reset_password',
    summary: 'Set a new password of a user and end all their sessions',
    method: 'POST',
    path: '/v1/users/reset-password',
    access: 'operator',
    agent: { omit: "The operator's; a key cannot call it." },
    emits: ['accounts'],
    input: { body: credentials },
    output: userRecord,
    errors: ['operator_required', 'user_not_found', 'rate_limited'],
    example: { body: exampleCredentials, response: exampleUser },
    command: 'owner reset-password',
    bodyLimit: 8192,
    prepare: ({ body }) => passwords.hash(body.password, { holder: 'operator' }),
    async run(call) {
      const { tx, body, now, prepared } = call
      const user = await findUser(tx.accounts, body.email)
      await tx.accounts.setPassword(user.id, prepared, now)
      await tx.accounts.deleteSessions({ user_id: user.id, kept: null })
      await audit(call, {
        account_id: user.account_id,
        action: 'user.password_reset',
        target_type: 'user',
        target_id: user.id,
      })
      return toWireUser({ ...user, updated_at: now })
    },
  })
}
