import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { accountOf } from '../../../authority/principal.ts'
import { idOf, listPage } from '../../cursor.ts'
import { filteredPageQuery, plainText } from '../../wire.ts'
import { auditPage, exampleAudit, toWireAudit } from '../schema.ts'

const filter = plainText.optional()

export const auditQuery = z.strictObject({
  ...filteredPageQuery('entries'),
  action: filter,
  actor_id: filter,
  target_id: filter,
})

type AuditCall = Parameters<typeof listPage>[0] & { readonly query: z.output<typeof auditQuery> }

/** One page of the entries of an account, or of the service itself. */
export function listEntries(
  call: AuditCall,
  account_id: string,
): Promise<z.input<typeof auditPage>> {
  const { action = null, actor_id = null, target_id = null } = call.query
  const filters = { account_id, action, actor_id, target_id }
  return listPage(call, {
    list: { list: 'audit', ...filters },
    read: (range) => call.platform.store.requests.audit({ ...filters, ...range }),
    cursorOf: idOf,
    show: () => toWireAudit,
  })
}

export const listAudit = operation({
  effect: 'read',
  id: 'audit.list',
  summary: 'List the audit log of the account, newest first',
  method: 'GET',
  path: '/v1/audit-log',
  access: 'owner',
  agent: { omit: "The owners' record of what their keys did." },
  emits: ['audit'],
  input: {
    query: auditQuery,
  },
  output: auditPage,
  errors: ['invalid_cursor'],
  example: { response: { data: [exampleAudit], has_more: false, next_cursor: null } },
  command: 'audit list',
  run: (call) => listEntries(call, accountOf(call.principal)),
})
