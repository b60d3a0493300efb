import type { ServiceReads } from '../../../../plugins/platform/contract/services.ts'
import { operation } from '../../../operations/operation.ts'
import { findLiveApp } from '../../apps/service.ts'
import { settingsError } from '../errors.ts'
import { findService, noteSetting, encryptSecrets } from '../service.ts'
import {
  exampleService,
  MAX_ENTRIES,
  namedService,
  serviceRecord,
  serviceSetting,
  toWireService,
} from '../services/schema.ts'

/** Maximum services of one app. */
const MAX_SERVICES = 50

export const putService = operation({
  effect: 'write',
  id: 'settings.put_service',
  summary: 'Set a service of an app; omitted secrets stay. Not used yet',
  method: 'PUT',
  path: '/v1/apps/{app_id}/settings/services/{service}',
  access: { scope: 'settings:write', pinned: 'allowed' },
  agent: { toolset: 'settings' },
  emits: ['settings'],
  input: { params: namedService, body: serviceSetting },
  output: serviceRecord,
  errors: ['app_not_found', 'app_archived', 'service_limit_reached'],
  example: {
    params: { app_id: exampleService.app_id, service: exampleService.name },
    body: {
      kind: 'database',
      config: { region: 'eu-central' },
      secrets: { PASSWORD: 'correct horse battery' },
    },
    response: exampleService,
  },
  command: 'service set',
  async run(call) {
    const { platform, principal, tx, params, body, now } = call
    const { id: app_id } = await findLiveApp(tx.apps, principal, params.app_id)
    const name = params.service
    const secrets = encryptSecrets(platform.keyring, app_id, name, body.secrets ?? {})
    await requireServiceQuota(tx.services, app_id, name, secrets)
    await tx.services.put(
      { app_id, name, kind: body.kind, config: body.config ?? {} },
      secrets,
      now,
    )
    await noteSetting(call, app_id, 'service.set', name)
    return toWireService(await findService(tx.services, app_id, name))
  },
})

/** Checks the quota in this unit of work. */
async function requireServiceQuota(
  services: Pick<ServiceReads, 'get' | 'count'>,
  appId: string,
  name: string,
  secrets: ReadonlyMap<string, string | null>,
): Promise<void> {
  const before = await services.get(appId, name)
  const others = (before?.secrets ?? []).filter((secret) => !secrets.has(secret.name))
  const given = [...secrets.values()].filter((secret) => secret !== null)
  const isFull = before === undefined && (await services.count(appId)) >= MAX_SERVICES
  if (isFull || others.length + given.length > MAX_ENTRIES) {
    throw settingsError('service_limit_reached')
  }
}
