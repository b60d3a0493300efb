import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { accountOf } from '../../../authority/principal.ts'
import { findLiveApp } from '../../apps/service.ts'
import { audit } from '../../audit/note.ts'
import { errorParams, exampleError, resolvedError, toResolved } from '../error-schema.ts'
import { findErrorGroup } from '../service.ts'

export const resolveAppError = operation({
  effect: 'write',
  id: 'observe.resolve_error',
  summary: 'Resolve an error; it reopens when it occurs again',
  method: 'POST',
  path: '/v1/apps/{app_id}/errors/{error_id}/resolve',
  // Observations are read-only; resolving one changes the app.
  access: { scope: 'apps:write', pinned: 'allowed' },
  agent: { toolset: 'observe' },
  emits: ['apps'],
  input: { params: errorParams, body: z.strictObject({}).optional() },
  output: resolvedError,
  errors: ['app_not_found', 'app_archived', 'error_not_found'],
  example: {
    params: { app_id: exampleError.app_id, error_id: exampleError.id },
    response: {
      id: exampleError.id,
      error_id: exampleError.id,
      app_id: exampleError.app_id,
      status: 'resolved',
      resolved_at: '2026-01-31T12:30:00.000Z',
    },
  },
  command: 'app resolve-error',
  async run(call) {
    const { principal, tx, params, now } = call
    await findLiveApp(tx.apps, principal, params.app_id)
    const { id, app_id } = await findErrorGroup(tx, call)
    // Repeated, it stays resolved, and no entry is recorded.
    if (await tx.observations.resolveErrorGroup(app_id, id, now)) {
      await audit(call, {
        account_id: accountOf(principal),
        action: 'error.resolved',
        target_type: 'error',
        target_id: id,
        app_id,
      })
    }
    return toResolved(await findErrorGroup(tx, call))
  },
})
