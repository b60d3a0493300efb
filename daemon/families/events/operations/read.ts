import { z } from 'zod'
import { holdsApp } from '../../../../lib/grant/authority.ts'
import { unreadableTypes } from '../../../events/authority.ts'
import { httpError } from '../../../operations/errors.ts'
import { fault } from '../../../operations/faults.ts'
import { operation } from '../../../operations/operation.ts'
import { accountOf, pinsOf } from '../../../authority/principal.ts'
import type { Principal } from '../../../authority/principal.ts'
import type { OrderedEvent } from '../../../../plugins/store/contract/events.ts'
import type { Page } from '../../../../plugins/store/contract/page.ts'
import type { Platform } from '../../../platform.ts'
import { paging } from '../../cursor.ts'
import { filteredPageQuery, givenInstant, plainText } from '../../wire.ts'
import { eventPage, exampleEvent, toWireEvent, eventRecord } from '../schema.ts'
import { eventError } from '../errors.ts'

/** Maximum types that a list names. */
const MOST_TYPES = 20

const type = z
  .string()
  .regex(
    new RegExp(`^[^,]{1,100}(?:,[^,]{1,100}){0,${MOST_TYPES - 1}}$`),
    `Must be a type, or up to ${MOST_TYPES} with a comma between them.`,
  )
  // As in plainText: no stored text contains it.
  .overwrite((value) => value.replaceAll('\0', '\uFFFD'))
  .meta({ description: `One event type, or up to ${MOST_TYPES} as a,b. Default: any.` })

const query = z
  .strictObject({
    ...filteredPageQuery('events'),
    type: type.optional(),
    app_id: plainText.optional().meta({ description: 'Events of this app. Default: any.' }),
    since: givenInstant.optional().meta({ description: 'Events at this instant or later.' }),
    until: givenInstant.optional().meta({ description: 'Events before this instant.' }),
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
  })
  .refine(({ since = -Infinity, until = Infinity }) => since < until, {
    path: ['since'],
    ...fault('empty_span', 'Must lie before until.'),
  })

export const listEvents = operation({
  effect: 'read',
  id: 'events.list',
  summary: 'List published events, newest first, or oldest first as a complete feed',
  method: 'GET',
  path: '/v1/events',
  access: { scope: 'events:read', pinned: 'allowed' },
  agent: { toolset: 'events' },
  emits: ['events'],
  input: { query },
  output: eventPage,
  errors: ['invalid_cursor'],
  example: { response: { data: [exampleEvent], has_more: false, next_cursor: null } },
  command: 'event list',
  async run({ platform, principal, query, abandoned }) {
    const { store, eventPositions, eventTypes } = platform
    const account_id = accountOf(principal)
    const { type = null, order = 'desc', app_id, since, until } = query
    // A filter that is not given has no part in it, so cursors of earlier versions stay valid.
    const list = { list: 'events', account_id, type, order, app_id, since, until }
    const pages = paging(query, list)
    const apps = appsOf(principal, app_id)
    const print = (cursor: string): string => eventPositions.print(account_id, cursor)
    const cursorOf = ({ cursor }: OrderedEvent): string => print(cursor)
    const show = (event: OrderedEvent) => toWireEvent(event, eventPositions)
    const position = query.after ?? pages.after
    const after = position === null ? null : eventPositions.read(account_id, position)
    if (after === undefined) throw httpError('invalid_cursor')
    return platform.queues.largePages({ holder: account_id, signal: abandoned() }, async () => {
      if (apps?.length === 0) return pages.answer(NOTHING, cursorOf, show)
      const page = await store.events.list({
        account_id,
        types: type?.split(',') ?? null,
        except: [...eventTypes.internal, ...unreadableTypes(platform, principal.authority)],
        since: since ?? null,
        until: until ?? null,
        apps,
        order,
        bodies: true,
        after,
        limit: pages.limit,
        bytes: pages.bytes,
      })
      const ends = page.next === undefined ? {} : { next: print(page.next) }
      return pages.answer({ ...page, ...ends }, cursorOf, show)
    })
  },
})

const NOTHING: Page<OrderedEvent> = { rows: [], more: false }

/** Only those within the pins. An app beyond them is as one that does not exist: nothing is of it. */
function appsOf(principal: Principal, requested: string | undefined): readonly string[] | null {
  const pins = pinsOf(principal)
  if (requested === undefined) return pins
  return pins === null || pins.includes(requested) ? [requested] : []
}

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
