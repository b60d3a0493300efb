import { operation } from '../../../operations/operation.ts'
import { exampleKey, keyParams, keyWithWebhooks, toWireKey } from '../schema.ts'
import { endOf, findKey } from '../service.ts'
import { listWebhooks } from '../webhooks.ts'

export const getKey = operation({
  effect: 'read',
  id: 'keys.get',
  summary: 'Show one key and the webhooks that come from it',
  method: 'GET',
  path: '/v1/keys/{key_id}',
  access: { scope: 'keys:read', pinned: 'allowed' },
  emits: ['keys'],
  input: { params: keyParams },
  output: keyWithWebhooks,
  errors: ['key_not_found'],
  example: {
    params: { key_id: exampleKey.id },
    response: { ...exampleKey, webhooks: [], webhooks_total: 0 },
  },
  command: 'key get',
  async run(call) {
    const { platform, params, now } = call
    const { keys, webhooks } = platform.store
    const key = await findKey(call, keys, params.key_id)
    const record = toWireKey(key, now, await endOf(keys, key, now))
    return { ...record, ...listWebhooks(await webhooks.fromKey(key.account_id, key.id)) }
  },
})
