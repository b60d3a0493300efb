import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import { accountError } from '../errors.ts'
import { accountParams, accountRecord, exampleAccount, toWireAccount } from '../schema.ts'
import { findAccount } from '../service.ts'

export const suspendAccount = declare('suspend', {
  summary: 'Suspend an account: its keys and sessions are refused at once, no data is deleted',
  suspended_at: '2026-01-31T12:00:00.000Z',
})

export const resumeAccount = declare('resume', {
  summary: 'Resume a suspended account',
  suspended_at: null,
})

function declare<const Verb extends 'suspend' | 'resume'>(
  verb: Verb,
  { summary, suspended_at }: { readonly summary: string; readonly suspended_at: string | null },
) {
  return operation({
    effect: 'write',
    id: `accounts.${verb}`,
    summary,
    method: 'POST',
    path: `/v1/accounts/{account_id}/${verb}`,
    access: 'operator',
    agent: { omit: "The operator's; a key cannot call it." },
    emits: ['accounts'],
    input: { params: accountParams },
    output: accountRecord,
    errors: ['operator_required', 'account_not_found', 'account_suspension_unchanged'],
    example: {
      params: { account_id: exampleAccount.id },
      response: { ...exampleAccount, suspended_at },
    },
    command: `account ${verb}`,
    async run(call) {
      const { tx, params, now } = call
      const { id } = await findAccount(tx.accounts, params.account_id)
      if (!(await tx.accounts.setSuspended(id, verb === 'suspend', now))) {
        throw accountError('account_suspension_unchanged')
      }
      // Those of the portal end for good: whoever resumes the account does not know who has them.
      if (verb === 'suspend') await tx.portalSessions.end({ account_id: id })
      await audit(call, {
        account_id: id,
        action: `account.${verb === 'suspend' ? 'suspended' : 'resumed'}`,
        target_type: 'account',
        target_id: id,
      })
      return toWireAccount(await findAccount(tx.accounts, id))
    },
  })
}
