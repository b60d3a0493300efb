import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import type { Passwords } from '../password.ts'
import { exampleCredentials, exampleUser, toWireUser, userCreation, userRecord } from '../schema.ts'
import { insertAccount } from '../../../authority/accounts.ts'
import { findAccount, insertUser } from '../service.ts'

export function createUser(passwords: Passwords) {
  return operation({
    effect: 'write',
    id: 'accounts.create_user',
    summary: 'Create a user, with an account when none is named',
    method: 'POST',
    path: '/v1/users',
    access: 'operator',
    agent: { omit: "The operator's; a key cannot call it." },
    emits: ['accounts'],
    input: { body: userCreation },
    output: userRecord,
    status: 201,
    errors: ['operator_required', 'account_not_found', 'email_taken', 'rate_limited'],
    example: { body: exampleCredentials, response: exampleUser },
    command: 'owner create',
    bodyLimit: 8192,
    prepare: ({ body }) => passwords.hash(body.password, { holder: 'operator' }),
    async run(call) {
      const { platform, tx, body, now, prepared } = call
      const account =
        body.account_id === undefined
          ? await insertAccount(tx, platform, { id: platform.newId(), name: body.email }, now)
          : await findAccount(tx.accounts, body.account_id)
      const wanted = { email: body.email, passwordHash: prepared }
      const user = await insertUser(tx, platform, account, wanted, now)
      await audit(call, {
        account_id: account.id,
        action: 'user.created',
        target_type: 'user',
        target_id: user.id,
      })
      return toWireUser(user)
    },
  })
}
