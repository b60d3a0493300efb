import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { accountOf } from '../../../authority/principal.ts'
import { idOf, listPage } from '../../cursor.ts'
import { filteredPageQuery, plainText } from '../../wire.ts'
import { auditPage, exampleAudit, toWireAudit } from '../schema.ts'

const filter = plainText.optional()

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
    query: z.strictObject({
      ...filteredPageQuery('entries'),
      action: filter,
      actor_id: filter,
      target_id: filter,
    }),
  },
  output: auditPage,
  errors: ['invalid_cursor'],
  example: { response: { data: [exampleAudit], has_more: false, next_cursor: null } },
  command: 'audit list',
  async run(call) {
    const { platform, principal, query } = call
    const filters = {
      account_id: accountOf(principal),
      action: query.action ?? null,
      actor_id: query.actor_id ?? null,
      target_id: query.target_id ?? null,
    }
    return listPage(call, {
      list: { list: 'audit', ...filters },
      read: (range) => platform.store.requests.audit({ ...filters, ...range }),
      cursorOf: idOf,
      show: () => toWireAudit,
    })
  },
})
