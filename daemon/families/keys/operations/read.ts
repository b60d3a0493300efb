import { z } from 'zod'
import { toIso } from '../../../../lib/time.ts'
import { operation } from '../../../operations/operation.ts'
import { accountOf, pinsOf } from '../../../authority/principal.ts'
import { httpError } from '../../../operations/errors.ts'
import { idOf, listPage } from '../../cursor.ts'
import { pageQuery, isoOrNull } from '../../wire.ts'
import { endOfChain } from '../../../../lib/key/lifecycle.ts'
import { exampleKey, keyDetail, keyPage, keyParams, ownKey, toWireKey } from '../schema.ts'
import { authorityOf, endOf, findKey, isVisible, withLastUse } from '../service.ts'
import { listWebhooks } from '../webhooks.ts'

const query = z.strictObject({
  ...pageQuery,
  status: z
    .enum(['live', 'all'])
    .optional()
    .meta({ description: 'live: active and rotating keys; all: every key. Default live.' }),
})

export const listKeys = operation({
  effect: 'read',
  id: 'keys.list',
  summary: 'List the keys of the account',
  method: 'GET',
  path: '/v1/keys',
  access: { scope: 'keys:read', pinned: 'allowed', portal: true },
  agent: { toolset: 'keys' },
  emits: ['keys'],
  input: { query },
  output: keyPage,
  errors: ['invalid_cursor'],
  example: { response: { data: [exampleKey], has_more: false, next_cursor: null } },
  command: 'key list',
  async run(call) {
    const { platform, principal, query, now } = call
    const status = query.status ?? 'live'
    const account = accountOf(principal)
    const { keys } = platform.store
    const live_at = status === 'live' ? now : null
    const within = pinsOf(principal)
    // Each key is read with its whole chain.
    return listPage(call, {
      list: { list: 'keys', account, status },
      read: (range) => keys.list({ account_id: account, live_at, within, ...range }),
      cursorOf: idOf,
      async show(rows) {
        const found = rows.map(async (key) => [key, await endOf(keys, key, now)] as const)
        const ends = new Map(await Promise.all(found))
        return (key) => toWireKey(withLastUse(platform, key), now, ends.get(key))
      },
    })
  },
})

export const getKey = operation({
  effect: 'read',
  id: 'keys.get',
  summary:
    'Show one key with its effective authority, the keys above it, and the webhooks that come from it',
  method: 'GET',
  path: '/v1/keys/{key_id}',
  access: { scope: 'keys:read', pinned: 'allowed', portal: true },
  agent: { toolset: 'keys' },
  emits: ['keys'],
  input: { params: keyParams },
  output: keyDetail,
  errors: ['key_not_found'],
  example: {
    params: { key_id: exampleKey.id },
    response: {
      ...exampleKey,
      webhooks: [],
      webhooks_total: 0,
      effective_scopes: ['apps:read', 'deploy:*'],
      effective_apps: null,
      effective_expires_at: null,
      ancestors: [],
    },
  },
  command: 'key get',
  async run(call) {
    const { platform, principal, params, now } = call
    const { keys, webhooks } = platform.store
    const key = await findKey(call, keys, params.key_id)
    const chain = key.parent_id === null ? [key] : await keys.chain(key.account_id, key.id)
    const { scopes, pins, expires_at } = authorityOf(chain)
    return {
      ...toWireKey(key, now, endOfChain(chain, now)),
      ...listWebhooks(await webhooks.fromKey(key.account_id, key.id)),
      effective_scopes: [...scopes],
      effective_apps: pins === 'all' ? null : [...pins].sort(),
      effective_expires_at: isoOrNull(expires_at),
      ancestors: chain
        .filter((one) => one.id !== key.id && isVisible(one, principal))
        .map((one) => ({
          id: one.id,
          name: one.name,
          scopes: [...one.scopes],
          apps: one.pins === 'all' ? null : [...one.pins].sort(),
          expires_at: isoOrNull(one.expires_at),
          revoked_at: isoOrNull(one.revoked_at),
        })),
    }
  },
})

export const getOwnKey = operation({
  effect: 'read',
  id: 'keys.self',
  summary: 'Show the calling key and its effective authority',
  method: 'GET',
  path: '/v1/keys/self',
  access: 'key',
  agent: { toolset: 'keys' },
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
    // Object.assign: spreading the record into a larger literal takes longer than everything else
    // here.
    const own = Object.assign(toWireKey(key, now), {
      // The cached record may be older; this request is the key's latest use.
      last_used_at: toIso(now),
      account_id: key.account_id,
      effective_scopes: [...authority.scopes],
      effective_apps: authority.pins === 'all' ? null : [...authority.pins].sort(),
      effective_expires_at: isoOrNull(authority.expires_at),
    })
    return Promise.resolve(own)
  },
})
