import { httpError } from '../../../operations/errors.ts'
import { operation } from '../../../operations/operation.ts'
import { serviceStatus } from '../schema.ts'

export const getServiceStatus = operation({
  effect: 'read',
  id: 'operator.status',
  summary: 'Show what the service does: backlog, rates, failing webhooks, last errors, disk',
  method: 'GET',
  path: '/v1/operator/status',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['operator'],
  input: {},
  output: serviceStatus,
  errors: ['operator_required', 'capability_unavailable'],
  example: {
    response: {
      at: '2026-01-31T12:00:00.000Z',
      version: '0.1.0',
      node_version: '24.4.0',
      uptime_seconds: 86_400,
      sending: 'active',
      unfinished_deliveries: 3,
      webhooks_with_backlog: 1,
      webhooks_due: 1,
      oldest_due_seconds: 0.4,
      webhooks_failing: 1,
      claimed_deliveries: 0,
      events_total: 5120,
      attempts_total: 5233,
      attempts_unrecorded: 0,
      requests_total: 6001,
      last_errors: [
        {
          at: '2026-01-31T11:59:00.000Z',
          account_id: '01890a5d-ac96-774b-bcce-b302099a8001',
          webhook_id: '01890a5d-ac96-774b-bcce-b302099a8058',
          delivery_id: '01890a5d-ac96-774b-bcce-b302099a8059',
          error: 'bad_status',
          reason: null,
          status_code: 503,
        },
      ],
      database: { kind: 'sqlite', bytes: 4_096_000 },
      disk: { free_bytes: 52_000_000_000, total_bytes: 100_000_000_000 },
    },
  },
  async run({ platform: { operating } }) {
    if (operating === undefined) throw httpError('capability_unavailable')
    const status = await operating.status()
    return { ...status, last_errors: status.last_errors.map((error) => ({ ...error })) }
  },
})
