import type {
  EventRecord,
  NewEvent,
  Publication,
  PublishOutcome,
} from '../../../lib/engine/ports.ts'
import { sameEvent } from '../../../lib/webhook/event.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type { EventReads, EventTypeRecord, EventWrites, OrderedEvent } from '../contract/events.ts'
import { MOST_LOOKED_AT } from '../contract/page.ts'
import type { Dialect, Query } from './client.ts'
import { asked, askedList, equal, takesAll } from './conditions.ts'
import { cutPage, inOrder, mapPage, readFilteredPage, readSizedPage } from './pages.ts'
import type { Group } from './columns.ts'
import { big, bytes, group, id, orNull, text } from './columns.ts'
import type { Row } from './rows.ts'
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
    async types({ account_id, after, limit, bytes, documents = true }) {
      const where = {
        sql: `type > $2 AND (account_id = $1 OR (account_id = '' AND NOT EXISTS (
          SELECT 1 FROM ${t.event_types} own
          WHERE own.account_id = $1 AND own.type = ${t.event_types}.type)))`,
        bind: [account_id, after ?? ''],
      }
      if (!documents) {
        // SQLite reads through all of a wide row to what follows it.
        const rows = await query(
          `SELECT account_id, type, description, NULL AS schema, NULL AS sample,
             0 AS created_at, 0 AS updated_at
           FROM ${t.event_types} WHERE ${where.sql} ORDER BY type, account_id LIMIT $3`,
          [...where.bind, limit + 1],
        )
        return mapPage(cutPage(rows, limit), EVENT_TYPE.read)
      }
      const page = await readSizedPage(query, {
        table: t.event_types,
        key: ['type', 'account_id'],
        order: 'asc',
        size: `COALESCE(octet_length(schema), 0) + COALESCE(octet_length(sample), 0)`,
        where,
        limit,
        bytes,
      })
      return mapPage(page, EVENT_TYPE.read)
    },
    async get(accountId, id) {
      const [row] = await query(`SELECT * FROM ${t.events} WHERE account_id = $1 AND id = $2`, [
        accountId,
        id,
      ])
      return row && toOrdered(row)
    },
    async list(page, most = MOST_LOOKED_AT) {
      const { account_id, types, since, until, apps, order, bodies, after, limit, bytes } = page
      const { except = [] } = page
      const list = { table: t.events, key: feed.key, order }
      const indexed = [equal({ account_id })]
      if (after !== null) indexed.push({ sql: feed.beyond(order, '$1'), bind: [after] })
      if (order === 'asc') indexed.push({ sql: feed.settled(t), bind: [] })
      // PostgreSQL knows how rare a value of a column is, and reads the table whole to find few rows; of an
      // expression it knows nothing, and stays in the range of the index.
      const asks = [
        askedList(types, dialect.among('type', '$1')),
        askedList(apps, dialect.among(`(app_id || '')`, '$1')),
        asked('bigint', since, 'created_at + 0 >= $1'),
        asked('bigint', until, 'created_at + 0 < $1'),
      ]
      const leftOut = {
        sql: `NOT (${dialect.among('type', '$1')})`,
        bind: [JSON.stringify(except)],
      }
      const filters = except.length === 0 ? asks : [...asks, leftOut]
      // Those that are left out are few: a page without another filter examines little more than itself.
      const examined = takesAll(asks) ? Math.min(most, limit + MOST_LEFT_OUT) : most
      const upTo = (row: Row) => ({ sql: feed.upTo(order, '$1'), bind: [feed.print(row)] })
      const filtered = { ...list, indexed, filters, most: examined, print: feed.print, upTo }
      const found = await readFilteredPage(query, filtered, async (where) => {
        const size = 'octet_length(body)'
        if (bodies) return readSizedPage(query, { ...list, size, where, limit, bytes })
        const rows = await query(
          `SELECT ${outline} FROM ${t.events} WHERE ${where.sql}
           ORDER BY ${inOrder(feed.key, order)} LIMIT $${where.bind.length + 1}`,
          [...where.bind, limit + 1],
        )
        return cutPage(rows, limit)
      })
      return mapPage(found, toOrdered)
    },
    isCursor: (text, last) =>
      feed.format.test(text) && (last === undefined || !isBeyond(text, last)),
    async lastCursor() {
      const [row] = await query(`SELECT ${feed.last(t)} AS cursor`, [])
      return String(row?.['cursor'])
    },
  }
}

/** Events of types that are left out which a page examines besides its own. */
const MOST_LEFT_OUT = 1000

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
