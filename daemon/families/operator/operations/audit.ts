import { SERVICE_ACCOUNT } from '../../../authority/principal.ts'
import { operation } from '../../../operations/operation.ts'
import { auditQuery, listEntries } from '../../audit/operations/list.ts'
import { auditPage, exampleAudit } from '../../audit/schema.ts'

const entry = {
  ...exampleAudit,
  actor: { type: 'operator', id: null },
  action: 'operator.signed_in',
  target: { type: 'operator_session', id: '01890a5d-ac96-774b-bcce-b302099a8057' },
}

export const listServiceAudit = operation({
  effect: 'read',
  id: 'operator.audit',
  summary:
    "List the audit log of the service itself, newest first: the operator's sign-ins and what belongs to no account",
  method: 'GET',
  path: '/v1/operator/audit-log',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['operator'],
  input: { query: auditQuery },
  output: auditPage,
  errors: ['operator_required', 'invalid_cursor'],
  example: { response: { data: [entry], has_more: false, next_cursor: null } },
  run: (call) => listEntries(call, SERVICE_ACCOUNT),
})
