import { z } from 'zod'
import { kernelError } from '../../../../lib/errors.ts'
import type { Authority } from '../../../../lib/grant/authority.ts'
import { refuseDelegation } from '../../../../lib/grant/delegate.ts'
import type { KeyRecord } from '../../../../lib/key/record.ts'
import { uncovered } from '../../../../lib/scope/cover.ts'
import type { ScopeUniverse } from '../../../../lib/scope/syntax.ts'
import { parseScopes } from '../../../../lib/scope/syntax.ts'
import type { Instant } from '../../../../lib/time.ts'
import type { WebhookRecord } from '../../../../lib/webhook/record.ts'
import { mayReceive } from '../../../events/authority.ts'
import type { WriteCall } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { httpError } from '../../../operations/errors.ts'
import { audit } from '../../audit/note.ts'
import { keyError } from '../errors.ts'
import { exampleKey, keyChanges, keyParams, toWireKey, updatedKey } from '../schema.ts'
import type { Actor } from '../service.ts'
import { authorityOf, findKey, loadActor, requireLive, requireManaged } from '../service.ts'
import { disableWebhooks, listWebhooks, webhooksChoice } from '../webhooks.ts'

export const updateKey = operation({
  effect: 'write',
  id: 'keys.update',
  summary: 'Rename a key, narrow its scopes or change its expiry',
  method: 'PATCH',
  path: '/v1/keys/{key_id}',
  access: { scope: 'keys:write', pinned: 'allowed', portal: true },
  agent: { toolset: 'keys' },
  emits: ['keys'],
  input: {
    params: keyParams,
    query: z.strictObject({ webhooks: webhooksChoice }),
    body: keyChanges,
  },
  output: updatedKey,
  errors: [
    'key_not_found',
    'key_not_active',
    'key_not_managed',
    'invalid_scope',
    'scope_widening_forbidden',
    'scope_not_delegable',
    'expiry_extension_forbidden',
    'previous_value_restricted',
    'rotation_conflict',
  ],
  example: {
    params: { key_id: exampleKey.id },
    body: { name: 'CI' },
    response: { ...exampleKey, webhooks: [], webhooks_total: 0 },
  },
  command: 'key update',
  async run(call) {
    const { platform, tx, params, query, body, now } = call
    const actor = await loadActor(call)
    const key = await findKey(call, tx.keys, params.key_id)
    if (actor.key?.id !== key.id) {
      await requireManaged(call, actor, key, prolongs(key, body.expires_at) ? 'empower' : 'change')
    }
    await requireLive(call, key)
    const scopes = body.scopes && narrowed(key, body.scopes, platform.universe)
    if (body.expires_at !== undefined) judgeExpiry(actor, key, body.expires_at, now)

    const changes = {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(scopes === undefined ? {} : { scopes }),
      ...(body.expires_at === undefined ? {} : { expires_at: body.expires_at }),
    }
    if (!(await tx.keys.update(key, changes, now))) throw keyError('rotation_conflict')
    await audit(call, {
      account_id: key.account_id,
      action: 'key.updated',
      target_type: 'key',
      target_id: key.id,
    })
    const webhooks = await outliving(call, key, body)
    if (query.webhooks === 'disable') await disableWebhooks(call, webhooks, 'key_narrowed')
    return { ...toWireKey({ ...key, ...changes, updated_at: now }, now), ...listWebhooks(webhooks) }
  },
})

/**
 * The webhooks of a key and its descendants that would outlive a change: all of them when the key gets an
 * expiry, and those whose events its new scopes do not cover.
 */
async function outliving(
  { platform, tx }: Pick<WriteCall, 'platform' | 'tx'>,
  { account_id, id }: KeyRecord,
  changes: { readonly scopes?: unknown; readonly expires_at?: unknown },
): Promise<readonly WebhookRecord[]> {
  if (changes.scopes === undefined && (changes.expires_at ?? null) === null) return []
  const webhooks = await tx.webhooks.fromKey(account_id, id)
  if ((changes.expires_at ?? null) !== null) return webhooks
  const authority = authorityOf(await tx.keys.chain(account_id, id))
  return webhooks.filter(({ events }) =>
    events.some((subscription) => !mayReceive(platform, authority, subscription)),
  )
}

/** Scopes are compared by coverage, not by spelling: `*:read` to `apps:read` is narrower. */
function narrowed(
  key: KeyRecord,
  requested: readonly string[],
  universe: ScopeUniverse,
): KeyRecord['scopes'] {
  const scopes = parseScopes(requested, universe, 'body.scopes')
  const wider = uncovered(key.scopes, scopes)
  if (wider.length === 0) return scopes
  throw kernelError('scope_widening_forbidden', { details: { wider_scopes: wider } })
}

function judgeExpiry(actor: Actor, key: KeyRecord, expiry: Instant | null, now: Instant): void {
  if (expiry !== null && expiry <= now) {
    throw httpError('invalid_request', {
      errors: [
        {
          location: 'body.expires_at',
          code: 'in_past',
          message: 'Must lie in the future. To end a key now, revoke it.',
        },
      ],
    })
  }
  if (!prolongs(key, expiry)) return
  if (actor.key?.id === key.id) throw keyError('expiry_extension_forbidden')
  refuseDelegation(actor.authority, { ...authorityOfRow(key), expires_at: expiry })
}

function prolongs(key: KeyRecord, expiry: Instant | null | undefined): boolean {
  return expiry !== undefined && (expiry ?? Infinity) > (key.expires_at ?? Infinity)
}

function authorityOfRow({ scopes, pins, expires_at }: KeyRecord): Authority {
  return { scopes, pins, expires_at }
}
