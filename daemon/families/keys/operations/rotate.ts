import { DEFAULT_GRACE, MAX_LIVE_SECRETS, previousNotAfter } from '../../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../../lib/key/record.ts'
import { SECOND } from '../../../../lib/time.ts'
import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import { keyError } from '../errors.ts'
import { createdKey, exampleKey, keyParams, keyRotation, toWireKey } from '../schema.ts'
import { findKey, loadActor, mintSecret, requireLive, requireManaged } from '../service.ts'

export const rotateKey = operation({
  effect: 'write',
  id: 'keys.rotate',
  summary: 'Rotate a key; the old value works for 24 more hours, with at most three older ones',
  method: 'POST',
  path: '/v1/keys/{key_id}/rotate',
  access: { scope: 'keys:write', pinned: 'allowed', self: 'key_id', portal: true },
  agent: { toolset: 'keys', destructive: true },
  emits: ['keys'],
  input: { params: keyParams, body: keyRotation },
  output: createdKey,
  status: 201,
  errors: [
    'key_not_found',
    'key_not_active',
    'key_not_managed',
    'previous_value_restricted',
    'rotation_conflict',
    'rotation_limit_reached',
  ],
  example: {
    params: { key_id: exampleKey.id },
    body: { grace_seconds: 3600 },
    response: {
      ...exampleKey,
      status: 'rotating',
      previous_valid_until: '2026-01-31T13:00:00.000Z',
      previous_values: [{ prefix: 'service_dk_8kQ2x3fJ', valid_until: '2026-01-31T13:00:00.000Z' }],
      key: 'service_dk_3fJ9kQ2x…',
    },
  },
  secret: ['key'],
  stepUp: true,
  command: 'key rotate',
  async run(call) {
    const { platform, tx, params, body, now } = call
    const actor = await loadActor(call)
    const key = await findKey(call, tx.keys, params.key_id)
    if (actor.key?.id !== key.id) await requireManaged(call, actor, key, 'empower')
    await requireLive(call, key)

    const grace = body?.grace_seconds === undefined ? DEFAULT_GRACE : body.grace_seconds * SECOND
    const previous_not_after = previousNotAfter(key, grace, now)
    const { value, secret } = mintSecret(platform, key.version + 1, now)
    const outcome = await tx.keys.rotate({ id: key.id, secret, previous_not_after, now })
    if (outcome !== 'rotated') throw refusalOf(outcome, key)
    await audit(call, {
      account_id: key.account_id,
      action: 'key.rotated',
      target_type: 'key',
      target_id: key.id,
    })
    return { ...toWireKey(await findKey(call, tx.keys, key.id), now), key: value }
  },
})

function refusalOf(outcome: 'conflict' | 'limit_reached', { id }: KeyRecord): Error {
  if (outcome === 'conflict') return keyError('rotation_conflict')
  return keyError('rotation_limit_reached', {
    message: `The key has ${MAX_LIVE_SECRETS} values that still work. End the previous ones with DELETE /v1/keys/${id}/previous, or rotate with grace_seconds 0.`,
    details: { limit: MAX_LIVE_SECRETS },
  })
}
