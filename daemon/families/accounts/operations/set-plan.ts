import { operation } from '../../../operations/operation.ts'
import { accountError } from '../errors.ts'
import { audit } from '../../audit/note.ts'
import { accountRecord, exampleAccount, exampleUser, planChange, toWireAccount } from '../schema.ts'
import { findAccount, findUser } from '../service.ts'

export const setPlan = operation({
  effect: 'write',
  id: 'accounts.set_plan',
  summary: "Change the plan of a user's account",
  method: 'POST',
  path: '/v1/users/plan',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['accounts'],
  input: { body: planChange },
  output: accountRecord,
  errors: ['operator_required', 'user_not_found', 'plan_managed'],
  example: { body: { email: exampleUser.email, plan: 'pro' }, response: exampleAccount },
  command: 'owner plan <email> <plan>',
  async run(call) {
    const { platform, tx, body, now } = call
    if (platform.billing.sellsPlan) throw accountError('plan_managed')
    const { account_id } = await findUser(tx.accounts, body.email)
    await tx.accounts.setPlan(account_id, body.plan, now)
    await audit(call, {
      account_id,
      action: 'account.plan_changed',
      target_type: 'account',
      target_id: account_id,
    })
    return toWireAccount(await findAccount(tx.accounts, account_id))
  },
})
