import { z } from 'zod'
import { holdsApp } from '../../../../lib/grant/authority.ts'
import { unreadableTypes } from '../../../events/authority.ts'
import { httpError } from '../../../operations/errors.ts'
import { fault } from '../../../operations/faults.ts'
import { operation } from '../../../operations/operation.ts'
import { accountOf, pinsOf } from '../../../authority/principal.ts'
import type { Principal } from '../../../authority/principal.ts'
import type { OrderedEvent } from '../../../../plugins/store/contract/events.ts'
import type { Platform } from '../../../platform.ts'
import { paging } from '../../cursor.ts'
import { filteredPageQuery, plainText } from '../../wire.ts'
import { eventPage, exampleEvent, toWireEvent, eventRecord } from '../schema.ts'
import { eventError } from '../errors.ts'

export const listEvents = operation({
  effect: 'read',
  id: 'events.list',
  summary: 'List published events, newest first, or oldest first as a complete feed',
  method: 'GET',
  path: '/v1/events',
  access: { scope: 'events:read', pinned: 'allowed' },
  agent: { toolset: 'events' },
  emits: ['events'],
  input: {
    query: z
      .strictObject({
        ...filteredPageQuery('events'),
        type: plainText.optional(),
        order: z
          .enum(['asc', 'desc'])
          .optional()
          .meta({ description: 'asc: the feed, oldest first, complete despite late commits.' }),
        after: z
          .string()
          .max(160)
          .optional()
          .meta({ description: 'With order=asc: position of your last event.' }),
      })
      .refine(({ after, order }) => after === undefined || order === 'asc', {
        path: ['after'],
        ...fault('conflicting_fields', 'Goes with order=asc.'),
      })
      .refine(({ after, cursor }) => after === undefined || cursor === undefined, {
        path: ['after'],
        ...fault('conflicting_fields', 'Give after or cursor, not both.'),
      }),
  },
  output: eventPage,
  errors: ['invalid_cursor'],
  example: { response: { data: [exampleEvent], has_more: false, next_cursor: null } },
  command: 'event list',
  async run({ platform, principal, query, abandoned }) {
    const { store, eventPositions, eventTypes } = platform
    const account_id = accountOf(principal)
    const { type = null, order = 'desc' } = query
    const pages = paging(query, { list: 'events', account_id, type, order })
    const position = query.after ?? pages.after
    const after = position === null ? null : eventPositions.read(account_id, position)
    if (after === undefined) throw httpError('invalid_cursor')
    return platform.queues.largePages({ holder: account_id, signal: abandoned() }, async () => {
      const page = await store.events.list({
        account_id,
        types: type === null ? null : [type],
        except: [...eventTypes.internal, ...unreadableTypes(platform, principal.authority)],
        since: null,
        until: null,
        apps: pinsOf(principal),
        order,
        bodies: true,
        after,
        limit: pages.limit,
        bytes: pages.bytes,
      })
      const print = (cursor: string) => eventPositions.print(account_id, cursor)
      return pages.answer(
        page.next === undefined ? page : { ...page, next: print(page.next) },
        ({ cursor }) => print(cursor),
        (event) => toWireEvent(event, eventPositions),
      )
    })
  },
})

export const getEvent = operation({
  effect: 'read',
  id: 'events.get',
  summary: 'Show one event',
  method: 'GET',
  path: '/v1/events/{event_id}',
  access: { scope: 'events:read', pinned: 'allowed', portal: true },
  agent: { toolset: 'events' },
  emits: ['events'],
  input: { params: z.strictObject({ event_id: plainText }) },
  output: eventRecord,
  errors: ['event_not_found'],
  example: { params: { event_id: exampleEvent.id }, response: exampleEvent },
  command: 'event get',
  async run({ platform, principal, params }) {
    const event = await findEvent(platform, principal, params.event_id)
    return toWireEvent(event, platform.eventPositions)
  },
})

/**
 * Finds an event that the principal may see.
 *
 * @throws KeyhookError `event_not_found`
 */
export async function findEvent(
  platform: Pick<Platform, 'store' | 'eventTypes' | 'universe'>,
  principal: Principal,
  id: string,
): Promise<OrderedEvent> {
  const event = await platform.store.events.get(accountOf(principal), id)
  const isHidden =
    event === undefined ||
    platform.eventTypes.internal.includes(event.type) ||
    unreadableTypes(platform, principal.authority).includes(event.type) ||
    !isVisible(event.app_id, principal)
  if (isHidden) throw eventError('event_not_found')
  return event
}

/** A pinned key sees the events of its own apps, and none without an app. */
function isVisible(appId: string | null, { authority }: Principal): boolean {
  return authority.pins === 'all' || (appId !== null && holdsApp(authority.pins, appId))
}
