import { readOperation } from '../../../family.ts'
import { exampleKey, keyParams, keyRecord, toWireKey } from '../schema.ts'
import { endOf, findKey } from '../service.ts'

export const getKey = readOperation({
  id: 'keys.get',
  summary: 'Show one key',
  method: 'GET',
  path: '/v1/keys/{key_id}',
  access: { scope: 'keys:read', pinned: 'allowed' },
  input: { params: keyParams },
  output: keyRecord,
  errors: ['key_not_found'],
  example: { params: { key_id: exampleKey.id }, response: exampleKey },
  command: 'key get',
  async run({ platform, principal, params, now }) {
    const { keys } = platform.store
    const key = await findKey(keys, principal, params.key_id)
    return toWireKey(key, now, await endOf(keys, key, now))
  },
})
