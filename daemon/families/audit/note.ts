import type { AuditOrigins } from '../../../plugins/store/contract/requests.ts'
import type { WriteCall } from '../../operations/call.ts'
import { creatorOf, printableClient } from '../../authority/principal.ts'

/** The part of a change that an audit entry needs. */
export type Change = Pick<
  WriteCall,
  'tx' | 'platform' | 'principal' | 'now' | 'requestId' | 'ip'
> & {
  /** Null: it was not called over a protocol. */
  readonly via: WriteCall['via'] | null
}

/** Records a change for the account's owners, in its own unit of work. */
export async function audit(
  call: Change,
  entry: {
    readonly account_id: string
    readonly action: string
    readonly target_type: string
    readonly target_id: string
    readonly app_id?: string | null
    readonly origins?: AuditOrigins
  },
): Promise<void> {
  const actor = creatorOf(call.principal)
  await call.tx.requests.insertAudit({
    app_id: null,
    origins: null,
    ...entry,
    id: call.platform.newId(),
    at: call.now,
    actor_type: actor.type,
    actor_id: actor.id,
    request_id: call.requestId,
    ip: call.ip === '' ? null : call.ip,
    protocol: call.via?.protocol ?? null,
    client: printableClient(call.via?.client ?? ''),
  })
}

/** The origins of a webhook, for an entry about it. */
export function originsOf({ created_by, set_by }: AuditOrigins): AuditOrigins {
  return { created_by, set_by }
}
