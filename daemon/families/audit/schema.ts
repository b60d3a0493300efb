import { z } from 'zod'
import { toIso } from '../../../lib/time.ts'
import type { AuditRecord } from '../../../plugins/store/contract/requests.ts'
import { creator, instant, pageOf } from '../wire.ts'

export const auditRecord = z
  .strictObject({
    id: z.string(),
    at: instant,
    actor: z.strictObject({
      type: z
        .string()
        .meta({ description: 'key, user, operator, portal, or processor for a payment.' }),
      id: z.string().nullable(),
    }),
    action: z.string().meta({ description: 'Action, such as key.revoked.' }),
    target: z.strictObject({ type: z.string(), id: z.string() }),
    app_id: z.string().nullable(),
    ip: z.string().nullable(),
    request_id: z.string(),
    protocol: z.string().nullable().meta({
      description: 'Protocol of the call: rest, mcp or a2a; null when it was not a call.',
    }),
    client: z.string().nullable().meta({
      description: "The client's name for itself, unverified; at most 100 characters.",
    }),
    origins: z.strictObject({ created_by: creator, set_by: creator }).nullable().meta({
      description:
        'For webhooks, after the change: who created it, and who last set its url, events, apps or secret.',
    }),
  })
  .meta({ id: 'AuditEntry' })

export const auditPage = pageOf(auditRecord)

export function toWireAudit(entry: AuditRecord): z.input<typeof auditRecord> {
  return {
    id: entry.id,
    at: toIso(entry.at),
    actor: { type: entry.actor_type, id: entry.actor_id },
    action: entry.action,
    target: { type: entry.target_type, id: entry.target_id },
    app_id: entry.app_id,
    ip: entry.ip,
    request_id: entry.request_id,
    protocol: entry.protocol,
    client: entry.client,
    origins: entry.origins && {
      created_by: { ...entry.origins.created_by },
      set_by: { ...entry.origins.set_by },
    },
  }
}

export const exampleAudit = {
  id: '01890a5d-ac96-774b-bcce-b302099a8070',
  at: '2026-01-31T12:00:00.000Z',
  actor: { type: 'user', id: '01890a5d-ac96-774b-bcce-b302099a8000' },
  action: 'key.revoked',
  target: { type: 'key', id: '01890a5d-ac96-774b-bcce-b302099a8057' },
  app_id: null,
  ip: '127.0.0.1',
  request_id: 'req_3fJ9kQ2xq83vEjRWeJq7zd',
  protocol: 'rest',
  client: 'curl/8.14.1',
  origins: null,
} as const
