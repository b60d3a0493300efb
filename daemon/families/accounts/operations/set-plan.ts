import { operation } from '../../../operations/operation.ts'
import { accountRecord, exampleAccount, exampleUser, planChange, toWireAccount } from '../schema.ts'
import { changeAccount, findAccount, findUser } from '../service.ts'

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
    const { tx, body } = call
    const { account_id } = await findUser(tx.accounts, body.email)
    await changeAccount(call, account_id, { plan: body.plan })
    return toWireAccount(await findAccount(tx.accounts, account_id))
  },
})
