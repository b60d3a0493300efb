import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import { accountError } from '../errors.ts'
import { accountCreation, accountRecord, exampleAccount, toWireAccount } from '../schema.ts'
import { insertAccount } from '../../../authority/accounts.ts'

export const createAccount = operation({
  effect: 'write',
  id: 'accounts.create',
  summary: 'Create an account',
  method: 'POST',
  path: '/v1/accounts',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['accounts'],
  input: { body: accountCreation },
  output: accountRecord,
  status: 201,
  errors: ['operator_required', 'account_exists'],
  example: { body: { name: exampleAccount.name }, response: exampleAccount },
  command: 'account create',
  async run(call) {
    const { platform, tx, body, now } = call
    const id = body.id ?? platform.newId()
    if ((await tx.accounts.get(id)) !== undefined) throw accountError('account_exists')
    const account = await insertAccount(tx, platform, { ...body, id }, now)
    await audit(call, {
      account_id: id,
      action: 'account.created',
      target_type: 'account',
      target_id: id,
    })
    return toWireAccount(account)
  },
})
