import { toIso } from '../../../../lib/time.ts'
import { isoOrNull } from '../../wire.ts'
import { operation } from '../../../operations/operation.ts'
import { httpError } from '../../../operations/errors.ts'
import { exampleKey, ownKey, toWireKey } from '../schema.ts'

export const getOwnKey = operation({
  effect: 'read',
  id: 'keys.self',
  summary: 'Show the calling key and its effective authority',
  method: 'GET',
  path: '/v1/keys/self',
  access: 'key',
  emits: ['keys'],
  input: {},
  output: ownKey,
  errors: ['key_required'],
  example: {
    response: {
      ...exampleKey,
      account_id: '01890a5d-ac96-774b-bcce-b302099a8001',
      effective_scopes: ['apps:read', 'deploy:*'],
      effective_apps: null,
      effective_expires_at: null,
    },
  },
  run({ principal, now }) {
    if (principal.type !== 'key') throw httpError('key_required')
    const { authority, key } = principal
    // Spread into a larger literal, the record would take longer to copy than all else here takes.
    const own = Object.assign(toWireKey(key, now), {
      // The record may have been cached before; this request is itself the key's latest use.
      last_used_at: toIso(now),
      account_id: key.account_id,
      effective_scopes: [...authority.scopes],
      effective_apps: authority.pins === 'all' ? null : [...authority.pins].sort(),
      effective_expires_at: isoOrNull(authority.expires_at),
    })
    return Promise.resolve(own)
  },
})
