import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { queryFlagOff } from '../../../operations/query-values.ts'
import { audit } from '../../audit/note.ts'
import { exampleKey, keyParams, revokedKey, toWireKey } from '../schema.ts'
import { findKey, loadActor, requireManaged } from '../service.ts'
import { LISTED, disableWebhooks, listWebhooks, webhooksChoice } from '../webhooks.ts'

export const revokeKey = operation({
  effect: 'write',
  id: 'keys.revoke',
  summary: 'Revoke a key and all its descendants at once',
  method: 'DELETE',
  path: '/v1/keys/{key_id}',
  access: { scope: 'keys:write', pinned: 'allowed', self: 'key_id', portal: true },
  agent: { toolset: 'keys' },
  emits: ['keys'],
  input: {
    params: keyParams,
    query: z.strictObject({
      webhooks: webhooksChoice,
      dry_run: queryFlagOff.meta({
        override: { default: false },
        description: 'Only return what would be revoked; change nothing. Default false.',
      }),
    }),
  },
  output: revokedKey,
  errors: ['key_not_found', 'key_not_managed'],
  example: {
    params: { key_id: exampleKey.id },
    response: {
      ...exampleKey,
      status: 'revoked',
      revoked_at: '2026-01-31T12:00:00.000Z',
      webhooks: [],
      webhooks_total: 0,
      keys: [exampleKey.id],
      keys_total: 1,
    },
  },
  command: 'key revoke',
  conclusion,
  async run(call) {
    const { tx, params, query, now } = call
    const actor = await loadActor(call, 'allow previous')
    const key = await findKey(call, tx.keys, params.key_id)
    if (actor.key?.id !== key.id) await requireManaged(call, actor, key, 'change')

    const tree = await tx.keys.descendants(key.id, LISTED, now)
    const webhooks = await tx.webhooks.fromKey(key.account_id, key.id)
    const affected = { ...listWebhooks(webhooks), keys: [...tree.ids], keys_total: tree.total }
    if (query.dry_run === 'true') return { ...toWireKey(key, now), ...affected }

    if (query.webhooks === 'disable') await disableWebhooks(call, webhooks, 'key_revoked')
    if (await tx.keys.revoke(key.id, now)) {
      await audit(call, {
        account_id: key.account_id,
        action: 'key.revoked',
        target_type: 'key',
        target_id: key.id,
      })
    }
    const revoked = await findKey(call, tx.keys, key.id)
    return { ...toWireKey(revoked, now), ...affected }
  },
})

/** Counts keys and webhooks, so that nobody has to count ids. */
function conclusion(
  { keys_total, webhooks_total, status }: Readonly<Record<string, unknown>>,
  { dry_run, webhooks }: Readonly<Record<string, unknown>>,
): string {
  const isTried = dry_run === true
  if (isTried && status === 'revoked') return 'Nothing was changed: the key is already revoked.'
  const total = Number(keys_total)
  const keys = total === 1 ? '1 key' : `${total} keys: this one and ${total - 1} below it`
  const set = Number(webhooks_total)
  const verb = webhooks === 'disable' ? 'disabled' : 'kept'
  const tense = isTried ? 'would be' : set === 1 ? 'was' : 'were'
  const kept = `${set} webhook${set === 1 ? '' : 's'} set by ${total === 1 ? 'it' : 'them'} ${tense} ${verb}.`
  return `${isTried ? 'Nothing was changed. This would revoke' : 'Revoked'} ${keys}. ${kept}`
}
