import { z } from 'zod'
import { httpError } from '../../../errors.ts'
import { readOperation } from '../../../family.ts'
import { paging } from '../../cursor.ts'
import { accountOf } from '../../../principal.ts'
import { pageQuery } from '../../wire.ts'
import { eventPage, exampleEvent, toWireEvent } from '../schema.ts'

export const listEvents = readOperation({
  id: 'events.list',
  summary: 'List published events, newest first',
  method: 'GET',
  path: '/v1/events',
  access: { scope: 'events:read', pinned: 'allowed' },
  input: { query: z.strictObject({ ...pageQuery, type: z.string().max(100).optional() }) },
  output: eventPage,
  errors: ['invalid_cursor'],
  example: { response: { data: [exampleEvent], has_more: false, next_cursor: null } },
  command: 'event list',
  async run({ platform, principal, query }) {
    const account_id = accountOf(principal)
    const type = query.type ?? null
    const { pins } = principal.authority
    const pages = paging(query, { list: 'events', account_id, type })
    const page = await platform.store.events.list({
      account_id,
      type,
      apps: pins === 'all' ? null : [...pins],
      order: 'desc',
      after: pages.after === null ? null : readPosition(pages.after),
      limit: pages.limit,
    })
    return pages.answer(page, ({ position }) => String(position), toWireEvent)
  },
})

/** A cursor can be forged: what is no position must not reach the store as one. */
function readPosition(after: string): number {
  const position = Number(after)
  if (!/^\d+$/.test(after) || !Number.isSafeInteger(position)) throw httpError('invalid_cursor')
  return position
}
