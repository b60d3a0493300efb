import type { Publication, PublishOutcome } from '../../../lib/engine/ports.ts'
import { sameEvent } from '../../../lib/webhook/event.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type { EventReads, EventTypeRecord, EventWrites, OrderedEvent } from '../contract/events.ts'
import { MOST_LOOKED_AT, leadOn } from '../contract/page.ts'
import type { Reading, State, StoredEvent } from './state.ts'
import { add, change, endPage, keyOf } from './state.ts'

const LAST_CURSOR = 'feed_cursor'

/** A declared type of which the name and the description alone are read. */
const OUTLINE = { schema: null, sample: null, created_at: 0, updated_at: 0 } as const

const NO_BODY = new Uint8Array()

export function eventReads(state: Reading): EventReads {
  return {
    typeNames: async (accountId) => [...typesOf(state(), accountId).keys()].sort(),
    async types({ account_id, after, limit, bytes, documents = true }) {
      const beyond = [...typesOf(state(), account_id).values()]
        .map((one) => (documents ? one : { ...one, ...OUTLINE }))
        .filter(({ type }) => after === null || type > after)
        .sort((a, b) => (a.type < b.type ? -1 : 1))
      const page = { rows: beyond.slice(0, limit), more: beyond.length > limit }
      return endPage(page, bytes, ({ schema, sample }) =>
        Buffer.byteLength(`${schema ?? ''}${sample ?? ''}`),
      )
    },
    async get(accountId, id) {
      const event = state().events.get(keyOf(accountId, id))
      return event && toOrdered(event)
    },
    async list(query, most = MOST_LOOKED_AT) {
      const { account_id, types, since, until, apps, order, bodies, after, limit, bytes } = query
      const { except = [] } = query
      const way = order === 'asc' ? 1 : -1
      const looked = [...state().events.values()]
        .filter((event) => event.account_id === account_id)
        .map(toOrdered)
        .filter(({ cursor }) => after === null || way * (Number(cursor) - Number(after)) > 0)
        .sort((a, b) => way * (Number(a.cursor) - Number(b.cursor)))
        .slice(0, most)
      const found = looked
        .filter((event) => types === null || types.includes(event.type))
        .filter(({ type }) => !except.includes(type))
        .filter(({ created_at }) => created_at >= (since ?? 0) && created_at < (until ?? Infinity))
        .filter(({ app_id }) => apps === null || (app_id !== null && apps.includes(app_id)))
      const full = { rows: found.slice(0, limit), more: found.length > limit }
      const page = leadOn(full, looked[most - 1]?.cursor)
      if (bodies) return endPage(page, bytes, ({ body }) => body.length)
      return { ...page, rows: page.rows.map((event) => ({ ...event, body: NO_BODY })) }
    },
    isCursor: (text, last = text) => /^\d{1,15}$/.test(text) && Number(text) <= Number(last),
    lastCursor: async () => state().meta.get(LAST_CURSOR) ?? '0',
  }
}

/** Only claims return the context. */
function toOrdered({ traceparent, ...event }: StoredEvent): OrderedEvent {
  void traceparent
  return event
}

/** The types of an account and of the operator by their names, where its own comes first. */
function typesOf({ types }: State, accountId: string): ReadonlyMap<string, EventTypeRecord> {
  const of = (owner: string) => [...types.values()].filter((one) => one.account_id === owner)
  return new Map([...of(''), ...of(accountId)].map((one) => [one.type, one]))
}

export function eventWrites(state: State, changes: ChangeSink): EventWrites {
  return {
    ...eventReads(() => state),
    async putType(type, most = Infinity) {
      const others = [...state.types.values()].filter(
        (one) => one.account_id === type.account_id && one.type !== type.type,
      )
      if (others.length >= most) return undefined
      changes.push({ kind: 'event_types', id: type.account_id })
      const at = keyOf(type.account_id, type.type)
      const { created_at } = state.types.get(at) ?? type
      if (!change(state.types, at, { ...type, created_at })) add(state.types, at, type)
      return { ...type, created_at }
    },
  }
}

/** @throws Error when an id that was not supplied is taken; the draft is then dropped */
export function insertGroup(state: State, group: readonly Publication[]): PublishOutcome[] {
  return group.map(({ event: { supplied, ...event }, deliveries }) => {
    const at = keyOf(event.account_id, event.id)
    const known = state.events.get(at)
    if (supplied && known !== undefined) return sameEvent(known, event) ? 'duplicate' : 'conflict'
    // Not the number of events: a cursor is never used again, also after its event is deleted.
    const next = String(Number(state.meta.get(LAST_CURSOR) ?? 0) + 1)
    state.meta.set(LAST_CURSOR, next)
    add(state.events, at, { ...event, cursor: next })
    for (const delivery of deliveries) add(state.deliveries, delivery.id, delivery)
    return 'stored'
  })
}
