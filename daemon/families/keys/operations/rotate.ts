import { DEFAULT_GRACE, previousNotAfter } from '../../../../lib/key/lifecycle.ts'
import { SECOND } from '../../../../lib/time.ts'
import { writeOperation } from '../../../family.ts'
import { audit } from '../../audit/note.ts'
import { keyError } from '../errors.ts'
import { createdKey, exampleKey, keyParams, keyRotation, toWireKey } from '../schema.ts'
import { findKey, loadActor, mintSecret, requireLive, requireManaged } from '../service.ts'

export const rotateKey = writeOperation({
  id: 'keys.rotate',
  summary: 'Give a key a new value; the old one works 24 hours more',
  method: 'POST',
  path: '/v1/keys/{key_id}/rotate',
  access: { scope: 'keys:write', pinned: 'allowed', self: 'key_id' },
  input: { params: keyParams, body: keyRotation },
  output: createdKey,
  status: 201,
  errors: [
    'key_not_found',
    'key_not_active',
    'key_not_managed',
    'previous_value_restricted',
    'rotation_conflict',
  ],
  example: {
    params: { key_id: exampleKey.id },
    body: { grace_seconds: 3600 },
    response: {
      ...exampleKey,
      status: 'rotating',
      previous_valid_until: '2026-01-31T13:00:00.000Z',
      key: 'service_dk_3fJ9kQ2x…',
    },
  },
  secret: ['key'],
  stepUp: true,
  command: 'key rotate',
  async run(call) {
    const { platform, principal, tx, params, body, now } = call
    const actor = await loadActor(call)
    const key = await findKey(tx.keys, principal, params.key_id)
    if (actor.key?.id !== key.id) await requireManaged(call, actor, key, 'empower')
    await requireLive(call, key)

    const grace = body?.grace_seconds === undefined ? DEFAULT_GRACE : body.grace_seconds * SECOND
    const previous_not_after = previousNotAfter(key, grace, now)
    const { value, secret } = mintSecret(platform, key.version + 1, now)
    if (!(await tx.keys.rotate({ id: key.id, secret, previous_not_after, now }))) {
      throw keyError('rotation_conflict')
    }
    await audit(call, {
      account_id: key.account_id,
      action: 'key.rotated',
      target_type: 'key',
      target_id: key.id,
    })
    return { ...toWireKey(await findKey(tx.keys, principal, key.id), now), key: value }
  },
})
