import { SERVICE_ACCOUNT } from '../../../authority/principal.ts'
import { toIso } from '../../../../lib/time.ts'
import { operation } from '../../../operations/operation.ts'
import { findPause, resumedName } from '../../../sending/paused.ts'
import { audit } from '../../audit/note.ts'
import { sendingRecord } from './status.ts'

export const resumeSending = operation({
  effect: 'write',
  id: 'sending.resume',
  summary: 'Send what was held back since a backup was restored; every daemon does within a second',
  method: 'POST',
  path: '/v1/sending/resume',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['sending'],
  input: {},
  output: sendingRecord,
  errors: ['operator_required'],
  example: { response: { status: 'active', waiting_webhooks: 0 } },
  command: 'sending resume',
  async run(call) {
    const { tx, now } = call
    const pause = await findPause(tx)
    // Repeated, it stays resumed, and no entry is recorded.
    if (pause !== undefined) {
      await tx.accounts.putMetaOnce(resumedName(pause), toIso(now))
      await audit(call, {
        account_id: SERVICE_ACCOUNT,
        action: 'sending.resumed',
        target_type: 'sending',
        target_id: pause,
      })
    }
    return { status: 'active' as const, waiting_webhooks: 0 }
  },
})
