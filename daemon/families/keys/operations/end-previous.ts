import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import { keyError } from '../errors.ts'
import { exampleKey, keyParams, keyRecord, toWireKey } from '../schema.ts'
import { findKey, loadActor, requireManaged } from '../service.ts'

export const endPreviousValue = operation({
  effect: 'write',
  id: 'keys.end_previous',
  summary: 'End all previous values of a rotated key now',
  method: 'DELETE',
  path: '/v1/keys/{key_id}/previous',
  access: { scope: 'keys:write', pinned: 'allowed', self: 'key_id', portal: true },
  agent: { toolset: 'keys' },
  emits: ['keys'],
  input: { params: keyParams },
  output: keyRecord,
  errors: ['key_not_found', 'key_not_managed', 'no_previous_value', 'previous_value_restricted'],
  example: { params: { key_id: exampleKey.id }, response: exampleKey },
  command: 'key end-previous',
  async run(call) {
    const { tx, params, now } = call
    const actor = await loadActor(call)
    const key = await findKey(call, tx.keys, params.key_id)
    if (actor.key?.id !== key.id) await requireManaged(call, actor, key, 'change')
    if (!(await tx.keys.endPrevious(key.id, now))) throw keyError('no_previous_value')
    await audit(call, {
      account_id: key.account_id,
      action: 'key.previous_ended',
      target_type: 'key',
      target_id: key.id,
    })
    return toWireKey(await findKey(call, tx.keys, key.id), now)
  },
})
