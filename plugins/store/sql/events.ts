import type {
  EventRecord,
  NewEvent,
  Publication,
  PublishOutcome,
} from '../../../lib/engine/ports.ts'
import { sameEvent } from '../../../lib/webhook/event.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type {
  EventListQuery,
  EventReads,
  EventTypeRecord,
  EventWrites,
  OrderedEvent,
} from '../contract/events.ts'
import { MOST_LOOKED_AT, leadOn } from '../contract/page.ts'
import type { Dialect, Query } from './client.ts'
import type { IndexedRows } from './looked-at.ts'
import { lastLookedAt } from './looked-at.ts'
import type { Group } from './columns.ts'
import { big, bytes, group, id, orNull, text } from './columns.ts'
import type { Row } from './rows.ts'
import { BEFORE_ALL, cutPage } from './rows.ts'
import { readSizedPage } from './sized-page.ts'
import type { Tables } from './tables.ts'

/** Columns of an event without its body, besides those of the cursor. */
const OUTLINE = {
  account_id: id(),
  id: id(),
  app_id: orNull(id()),
  type: text(),
  created_at: big(),
}
const OUTLINE_COLUMNS = Object.keys(OUTLINE)

/** The body is empty where it was not read. */
const EVENT: Group<EventRecord> = group({ ...OUTLINE, body: bytes() })

const EVENT_TYPE: Group<EventTypeRecord> = group({
  account_id: id(),
  type: text(),
  description: orNull(text()),
  schema: orNull(text()),
  sample: orNull(text()),
  created_at: big(),
  updated_at: big(),
})

export function eventReads(query: Query, t: Tables, dialect: Dialect): EventReads {
  const { feed } = dialect
  const outline = [...feed.key, ...OUTLINE_COLUMNS].join(', ')
  const toOrdered = (row: Row): OrderedEvent => ({ ...EVENT.read(row), cursor: feed.print(row) })
  return {
    async typeNames(accountId) {
      const rows = await query<{ type: string }>(
        `SELECT DISTINCT type FROM ${t.event_types}
         WHERE account_id = $1 OR account_id = '' ORDER BY type`,
        [accountId],
      )
      return rows.map(({ type }) => type)
    },
    async types({ account_id, after, limit, bytes }) {
      const { rows, more } = await readSizedPage(query, {
        table: t.event_types,
        key: ['type', 'account_id'],
        order: 'asc',
        size: `COALESCE(octet_length(schema), 0) + COALESCE(octet_length(sample), 0)`,
        where: `type > $2 AND (account_id = $1 OR (account_id = '' AND NOT EXISTS (
          SELECT 1 FROM ${t.event_types} own
          WHERE own.account_id = $1 AND own.type = ${t.event_types}.type)))`,
        bind: [account_id, after ?? BEFORE_ALL],
        limit,
        bytes,
      })
      return { rows: rows.map(EVENT_TYPE.read), more }
    },
    async get(accountId, id) {
      const [row] = await query(`SELECT * FROM ${t.events} WHERE account_id = $1 AND id = $2`, [
        accountId,
        id,
      ])
      return row && toOrdered(row)
    },
    async list(filter, most = MOST_LOOKED_AT) {
      const { account_id, types, since, until, apps, order, bodies, after, limit, bytes } = filter
      const { except = [] } = filter
      const ends = feed.ends[order]
      const indexed: IndexedRows = {
        table: t.events,
        key: feed.key,
        order,
        where: `account_id = $1 AND ${feed.beyond(order, '$2')}
          AND ${order === 'asc' ? feed.settled(t) : 'TRUE'}`,
        bind: [account_id, after ?? ends.first],
      }
      // Those that are left out are few: a page without another filter looks at little more than itself.
      const looked = takesAll(filter) ? Math.min(most, limit + MOST_LEFT_OUT) : most
      const isWhole = takesAll(filter) && except.length === 0
      const end = isWhole ? undefined : await lastLookedAt(query, indexed, looked)
      const last = end && feed.print(end)
      const where = `${indexed.where} AND ${feed.upTo(order, '$3')}
        AND (CAST($4 AS TEXT) IS NULL OR ${dialect.among('type', '$4')})
        AND (CAST($5 AS TEXT) IS NULL OR ${dialect.among('app_id', '$5')})
        AND created_at >= $6 AND created_at < $7
        ${except.length === 0 ? '' : `AND NOT (${dialect.among('type', '$8')})`}`
      const bind = [
        ...indexed.bind,
        last ?? ends.last,
        types && JSON.stringify(types),
        apps && JSON.stringify(apps),
        since ?? 0,
        until ?? Number.MAX_SAFE_INTEGER,
        ...(except.length === 0 ? [] : [JSON.stringify(except)]),
      ]
      if (bodies) {
        const size = 'octet_length(body)'
        const page = { table: t.events, key: feed.key, order, size, where, bind, limit, bytes }
        const { rows, more } = await readSizedPage(query, page)
        return leadOn({ rows: rows.map(toOrdered), more }, last)
      }
      const rows = await query(
        `SELECT ${outline} FROM ${t.events} WHERE ${where}
         ORDER BY ${feed.key.map((column) => `${column} ${order}`).join(', ')} LIMIT $${bind.length + 1}`,
        [...bind, limit + 1],
      )
      return leadOn(cutPage(rows.map(toOrdered), limit), last)
    },
    isCursor: (text, last) =>
      feed.format.test(text) && (last === undefined || !isBeyond(text, last)),
    async lastCursor() {
      const [row] = await query(`SELECT ${feed.last(t)} AS cursor`, [])
      return String(row?.['cursor'])
    },
  }
}

/** Events of types that are left out which a page looks at besides its own. */
const MOST_LEFT_OUT = 1000

/** Whether a query asks for some events alone. */
function takesAll({ types, since, until, apps }: EventListQuery): boolean {
  return [types, since, until, apps].every((one) => one === null)
}

/** Whether a cursor is after another: compares their numbers, the first one first. */
function isBeyond(cursor: string, other: string): boolean {
  const others = other.split('-').map(BigInt)
  for (const [index, number] of cursor.split('-').map(BigInt).entries()) {
    const against = others[index] ?? 0n
    if (number !== against) return number > against
  }
  return false
}

export function eventWrites(
  query: Query,
  t: Tables,
  dialect: Dialect,
  changes: ChangeSink,
): EventWrites {
  return {
    ...eventReads(query, t, dialect),
    async putType(type, most = Number.MAX_SAFE_INTEGER) {
      // A SELECT list gives its parameters no type.
      const [row] = await query(
        `INSERT INTO ${t.event_types}
           (account_id, type, description, schema, sample, created_at, updated_at)
         SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT),
           CAST($5 AS TEXT), CAST($6 AS BIGINT), CAST($7 AS BIGINT)
         WHERE (SELECT count(*) FROM ${t.event_types} WHERE account_id = $1 AND type <> $2)
           < CAST($8 AS BIGINT)
         ON CONFLICT (account_id, type) DO UPDATE SET description = excluded.description,
           schema = excluded.schema, sample = excluded.sample, updated_at = excluded.updated_at
         RETURNING *`,
        [...Object.values(EVENT_TYPE.write(type)), most],
      )
      if (row === undefined) return undefined
      changes.push({ kind: 'event_types', id: type.account_id })
      return EVENT_TYPE.read(row)
    },
  }
}

/**
 * Commits a group of events with their deliveries, without those of duplicates and conflicts.
 *
 * Ids from callers are looked up first. When another process commits one of them in between, that
 * publication is judged again.
 */
export async function insertGroup(
  query: Query,
  t: Tables,
  dialect: Dialect,
  group: readonly Publication[],
): Promise<readonly PublishOutcome[]> {
  const events = group.map(({ event }) => event)
  const outcomes = await judgeIds(query, t, dialect, events)
  const wanted = group.filter((_, index) => outcomes[index] === 'stored')
  if (wanted.length === 0) return outcomes
  const overtaken = await dialect.groups.publish(query, t, wanted)
  if (overtaken.length === 0) return outcomes
  const lost = new Set(overtaken.map(({ event }) => keyOf(event)))
  const again = group.filter(({ event }) => lost.has(keyOf(event)))
  const judged = await insertGroup(query, t, dialect, again)
  const anew = new Map(again.map((publication, index) => [publication, judged[index]]))
  return group.map((publication, index) => anew.get(publication) ?? outcomes[index] ?? 'stored')
}

const keyOf = ({ account_id, id }: Pick<NewEvent, 'account_id' | 'id'>): string =>
  `${account_id}\n${id}`

/** Generated ids are new; ids from callers may exist already, or twice in the group. */
async function judgeIds(
  query: Query,
  t: Tables,
  dialect: Dialect,
  events: readonly NewEvent[],
): Promise<readonly PublishOutcome[]> {
  const supplied = events.filter((event) => event.supplied)
  if (supplied.length === 0) return events.map(() => 'stored')
  const rows = await query(
    `SELECT ${OUTLINE_COLUMNS.map((column) => `e.${column}`).join(', ')},
       CASE WHEN octet_length(e.body) <= CAST(asked.value ->> 2 AS BIGINT) THEN e.body END AS body
     FROM ${dialect.each('$1', 'asked')}
     JOIN ${t.events} e ON e.account_id = asked.value ->> 0 AND e.id = asked.value ->> 1`,
    [JSON.stringify(longestOf(supplied))],
  )
  const kept = new Map(rows.map(EVENT.read).map((event) => [keyOf(event), event]))
  return events.map((event) => {
    const known = kept.get(keyOf(event))
    if (known === undefined) kept.set(keyOf(event), event)
    if (known === undefined) return 'stored'
    return sameEvent(known, event) ? 'duplicate' : 'conflict'
  })
}

/** The same event may differ in length only by its instant. A longer body is not read: it is another event. */
const INSTANT_BYTES = 64

/** Each id once, with the maximum length of a body that may be the same event. */
function longestOf(events: readonly NewEvent[]): readonly (readonly [string, string, number])[] {
  const longest = new Map<string, readonly [string, string, number]>()
  for (const { account_id, id, body } of events) {
    const at = keyOf({ account_id, id })
    const bytes = Math.max(body.length + INSTANT_BYTES, longest.get(at)?.[2] ?? 0)
    longest.set(at, [account_id, id, bytes])
  }
  return [...longest.values()]
}
