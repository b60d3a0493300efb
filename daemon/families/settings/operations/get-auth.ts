import { operation } from '../../../operations/operation.ts'
import { appParams, exampleApp } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { authRecord, exampleAuth, toWireAuth } from '../auth-schema.ts'

export const getAuth = operation({
  effect: 'read',
  id: 'settings.get_auth',
  summary: "Read the sign-in settings of an app's users. Not used yet",
  method: 'GET',
  path: '/v1/apps/{app_id}/settings/auth',
  access: { scope: 'settings:read', pinned: 'allowed' },
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
