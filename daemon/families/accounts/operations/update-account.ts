import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import { accountError } from '../errors.ts'
import {
  accountChanges,
  accountParams,
  accountRecord,
  exampleAccount,
  toWireAccount,
} from '../schema.ts'
import { findAccount } from '../service.ts'

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
    const { platform, tx, params, body, now } = call
    if (body.plan !== undefined && platform.billing.sellsPlan) throw accountError('plan_managed')
    const { id } = await findAccount(tx.accounts, params.account_id)
    if (body.key_limit !== undefined) await tx.accounts.setKeyLimit(id, body.key_limit, now)
    if (body.plan !== undefined) await tx.accounts.setPlan(id, body.plan, now)
    await audit(call, {
      account_id: id,
      action: 'account.updated',
      target_type: 'account',
      target_id: id,
    })
    return toWireAccount(await findAccount(tx.accounts, id))
  },
})
