import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { paging } from '../../cursor.ts'
import { pageQuery } from '../../wire.ts'
import { exampleKey, keyPage, toWireKey } from '../schema.ts'
import { endOf, withLastUse } from '../service.ts'
import { accountOf, pinsOf } from '../../../authority/principal.ts'

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
  access: { scope: 'keys:read', pinned: 'allowed' },
  emits: ['keys'],
  input: { query },
  output: keyPage,
  errors: ['invalid_cursor'],
  example: { response: { data: [exampleKey], has_more: false, next_cursor: null } },
  command: 'key list',
  async run({ platform, principal, query, now, abandoned }) {
    const status = query.status ?? 'live'
    const account = accountOf(principal)
    const pages = paging(query, { list: 'keys', account, status })
    const { keys } = platform.store
    // Each key is read with its whole line.
    return platform.queues.largePages({ holder: account, signal: abandoned() }, async () => {
      const page = await keys.list({
        account_id: account,
        live_at: status === 'live' ? now : null,
        within: pinsOf(principal),
        limit: pages.limit,
        after: pages.after,
      })
      const ends = new Map(
        await Promise.all(
          page.rows.map(async (key) => [key, await endOf(keys, key, now)] as const),
        ),
      )
      return pages.answer(
        page,
        ({ id }) => id,
        (key) => toWireKey(withLastUse(platform, key), now, ends.get(key)),
      )
    })
  },
})
