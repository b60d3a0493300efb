import { operation } from '../../../operations/operation.ts'
import {
  accountChanges,
  accountParams,
  accountRecord,
  exampleAccount,
  toWireAccount,
} from '../schema.ts'
import { changeAccount, findAccount } from '../service.ts'

export const updateAccount = operation({
  effect: 'write',
  id: 'accounts.update',
  summary: 'Change the plan or the limit of live keys of an account',
  method: 'PATCH',
  path: '/v1/accounts/{account_id}',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['accounts'],
  input: { params: accountParams, body: accountChanges },
  output: accountRecord,
  errors: ['operator_required', 'account_not_found', 'plan_managed'],
  example: {
    params: { account_id: exampleAccount.id },
    body: { key_limit: 500 },
    response: { ...exampleAccount, key_limit: 500 },
  },
  command: 'account update',
  async run(call) {
    const { tx, params, body } = call
    const { id } = await findAccount(tx.accounts, params.account_id)
    await changeAccount(call, id, body)
    return toWireAccount(await findAccount(tx.accounts, id))
  },
})
