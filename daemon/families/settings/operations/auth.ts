import { operation } from '../../../operations/operation.ts'
import { appParams, exampleApp } from '../../apps/schema.ts'
import { findApp, findLiveApp } from '../../apps/service.ts'
import { requireUnpublished } from '../../sign-in.ts'
import { authRecord, exampleAuth, toWireAuth, authChanges } from '../auth-schema.ts'
import { noteSetting } from '../service.ts'

export const getAuth = operation({
  effect: 'read',
  id: 'settings.get_auth',
  summary: "Read the sign-in settings of an app's users. Not used yet",
  method: 'GET',
  path: '/v1/apps/{app_id}/settings/auth',
  access: { scope: 'settings:read', pinned: 'allowed' },
  agent: { toolset: 'settings' },
  emits: ['settings'],
  input: { params: appParams },
  output: authRecord,
  errors: ['app_not_found'],
  example: { params: { app_id: exampleApp.id }, response: exampleAuth },
  command: 'auth get',
  async run({ platform, principal, params }) {
    const { apps, signIn } = platform.store
    const { id } = await findApp(apps, principal, params.app_id)
    return toWireAuth(id, await signIn.get(id))
  },
})

export const updateAuth = operation({
  effect: 'write',
  id: 'settings.update_auth',
  summary: "Change the sign-in settings of an app's users; omitted fields stay. Not used yet",
  method: 'PATCH',
  path: '/v1/apps/{app_id}/settings/auth',
  access: { scope: 'settings:write', pinned: 'allowed' },
  agent: { toolset: 'settings' },
  emits: ['settings'],
  input: { params: appParams, body: authChanges },
  output: authRecord,
  errors: ['app_not_found', 'app_archived', 'capability_unavailable'],
  example: {
    params: { app_id: exampleApp.id },
    body: { enabled: true, providers: ['password'], signup: 'invite' },
    response: exampleAuth,
  },
  command: 'auth update',
  async run(call) {
    const { principal, tx, params, body, now } = call
    const { id } = await findLiveApp(tx.apps, principal, params.app_id)
    const { enabled, providers, allowed_redirects, session_ttl, signup } = body
    if (enabled === true) await requireUnpublished(tx.deployments, id)
    await tx.signIn.change(
      id,
      {
        ...(enabled !== undefined && { enabled }),
        ...(providers !== undefined && { providers }),
        ...(allowed_redirects !== undefined && { allowed_redirects }),
        ...(session_ttl !== undefined && { session_ttl }),
        ...(signup !== undefined && { signup }),
      },
      now,
    )
    await noteSetting(call, id, 'auth.updated', id)
    return toWireAuth(id, await tx.signIn.get(id))
  },
})
