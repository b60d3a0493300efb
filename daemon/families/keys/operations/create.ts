import { kernelError } from '../../../../lib/errors.ts'
import {
  MAX_DEPTH,
  inheritExpiry,
  inheritPins,
  refuseDelegation,
} from '../../../../lib/grant/delegate.ts'
import type { KeyRecord } from '../../../../lib/key/record.ts'
import { parseScopes } from '../../../../lib/scope/syntax.ts'
import { requireApps } from '../../../authority/app-directory.ts'
import { operation } from '../../../operations/operation.ts'
import { httpError } from '../../../operations/errors.ts'
import { accountOf, creatorOf } from '../../../authority/principal.ts'
import { audit } from '../../audit/note.ts'
import { requireBudget } from '../budget.ts'
import { keyError } from '../errors.ts'
import { createdKey, exampleKey, keyCreation, toWireKey } from '../schema.ts'
import { loadActor, mintSecret } from '../service.ts'

export const createKey = operation({
  effect: 'write',
  id: 'keys.create',
  summary: 'Create a key; its value is shown once',
  method: 'POST',
  path: '/v1/keys',
  access: { scope: 'keys:write', pinned: 'allowed', portal: true },
  agent: { toolset: 'keys' },
  emits: ['keys'],
  input: { body: keyCreation },
  output: createdKey,
  status: 201,
  errors: [
    'invalid_scope',
    'scope_not_delegable',
    'app_not_found',
    'delegation_too_deep',
    'previous_value_restricted',
    'dev_api_not_enabled',
    'key_limit_reached',
    'billing_not_configured',
  ],
  example: {
    body: { name: 'CI', scopes: ['apps:read', 'deploy:*'] },
    response: { ...exampleKey, key: 'service_dk_3fJ9kQ2x…' },
  },
  secret: ['key'],
  stepUp: true,
  command: 'key create',
  async run(call) {
    const { platform, principal, tx, body, now } = call
    const account_id = accountOf(principal)
    const scopes = parseScopes(body.scopes, platform.universe, 'body.scopes')
    const actor = await loadActor(call)
    const expires_at = inheritExpiry(body.expires_at, actor.authority.expires_at)
    if (expires_at !== null && expires_at <= now) throw pastExpiry()
    const requested = { scopes, pins: inheritPins(body.apps, actor.authority.pins), expires_at }
    refuseDelegation(actor.authority, requested)
    requireBudget(call, actor, body.monthly_budget_micros)
    await requireApps(call, account_id, body.apps)
    const depth = actor.key === undefined ? 0 : actor.key.depth + 1
    if (depth > MAX_DEPTH) throw kernelError('delegation_too_deep')
    const plan = await platform.billing.planOf(tx, account_id, now)
    if (plan === 'free') throw keyError('dev_api_not_enabled')

    const { value, secret } = mintSecret(platform, 1, now)
    const key: KeyRecord = {
      id: platform.newId(),
      account_id,
      name: body.name,
      ...requested,
      parent_id: actor.key?.id ?? null,
      depth,
      monthly_budget_micros: body.monthly_budget_micros ?? null,
      revoked_at: null,
      created_by: creatorOf(principal),
      created_at: now,
      updated_at: now,
      last_used_at: null,
      version: 1,
      secrets: [secret],
    }
    const byDefault = platform.keyLimit
    if (!(await tx.keys.insert(key, { byDefault, now }))) {
      throw limitReached((await tx.accounts.get(account_id))?.key_limit ?? byDefault)
    }
    await audit(call, { account_id, action: 'key.created', target_type: 'key', target_id: key.id })
    return { ...toWireKey(key, now), key: value }
  },
})

function limitReached(maximum: number): Error {
  return keyError('key_limit_reached', {
    message: `The account has reached its limit of ${maximum} live keys. Revoke one first, or ask the operator to raise the account's key_limit.`,
    details: { limit: 'live_keys_per_account', maximum },
  })
}

function pastExpiry(): Error {
  return httpError('invalid_request', {
    errors: [{ location: 'body.expires_at', code: 'in_past', message: 'Must lie in the future.' }],
  })
}
