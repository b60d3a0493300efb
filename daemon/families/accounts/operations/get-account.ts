import { operation } from '../../../operations/operation.ts'
import { accountParams, accountRecord, exampleAccount, toWireAccount } from '../schema.ts'
import { findAccount } from '../service.ts'

export const getAccount = operation({
  effect: 'read',
  id: 'accounts.get',
  summary: 'Show one account',
  method: 'GET',
  path: '/v1/accounts/{account_id}',
  access: 'operator',
  emits: ['accounts'],
  input: { params: accountParams },
  output: accountRecord,
  errors: ['operator_required', 'account_not_found'],
  example: { params: { account_id: exampleAccount.id }, response: exampleAccount },
  command: 'account get',
  async run({ platform, params }) {
    return toWireAccount(await findAccount(platform.store.accounts, params.account_id))
  },
})
