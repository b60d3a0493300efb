import type { NewEvent, Publication, PublishOutcome } from '../../../lib/engine/ports.ts'
import { sameEvent } from '../../../lib/webhook/same-event.ts'
import type { EventReads, EventTypeRecord, EventWrites, PlacedEvent } from '../contract/events.ts'
import type { Dialect, Query } from './client.ts'
import type { Row } from './rows.ts'
import { cutPage, integer, textOrNull } from './rows.ts'
import type { Tables } from './tables.ts'

export function eventReads(query: Query, t: Tables, dialect: Dialect): EventReads {
  return {
    async types(accountId) {
      const rows = await query(
        `SELECT * FROM ${t.event_types} WHERE account_id = $1 OR account_id = '' ORDER BY type`,
        [accountId],
      )
      return rows.map(toType)
    },
    async get(accountId, id) {
      const [row] = await query(`SELECT * FROM ${t.events} WHERE account_id = $1 AND id = $2`, [
        accountId,
        id,
      ])
      return row && toEvent(row)
    },
    async list({ account_id, type, apps, order, after, limit }) {
      const beyond = order === 'asc' ? '>' : '<'
      const rows = await query(
        `SELECT * FROM ${t.events}
         WHERE account_id = $1 AND ($2 IS NULL OR position ${beyond} $2)
           AND ($3 IS NULL OR type = $3)
           AND ($4 IS NULL OR ${dialect.among('app_id', '$4')})
         ORDER BY position ${order} LIMIT $5`,
        [account_id, after, type, apps && JSON.stringify(apps), limit + 1],
      )
      return cutPage(rows.map(toEvent), limit)
    },
  }
}

export function eventWrites(query: Query, t: Tables, dialect: Dialect): EventWrites {
  return {
    ...eventReads(query, t, dialect),
    async putType(type) {
      const [row] = await query(
        `INSERT INTO ${t.event_types}
           (account_id, type, description, schema, sample, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (account_id, type) DO UPDATE SET description = excluded.description,
           schema = excluded.schema, sample = excluded.sample, updated_at = excluded.updated_at
         RETURNING *`,
        [
          type.account_id,
          type.type,
          type.description,
          type.schema,
          type.sample,
          type.created_at,
          type.updated_at,
        ],
      )
      return row === undefined ? type : toType(row)
    },
    insert: (group) => insertGroup(query, t, group),
  }
}

/**
 * Commits a group as one statement: a small JSON array of rows, and one blob of all bodies.
 *
 * Must be called in the writer's turn: ids that came from callers are looked up first, and nothing may
 * write in between.
 */
export async function insertGroup(
  query: Query,
  t: Tables,
  group: readonly Publication[],
): Promise<readonly PublishOutcome[]> {
  const outcomes = await judgeIds(
    query,
    t,
    group.map(({ event }) => event),
  )
  const stored = group.filter((_, index) => outcomes[index] === 'stored')
  if (stored.length === 0) return outcomes

  // Offsets count bytes from 1, as substr does on a blob.
  let offset = 1
  const rows: unknown[][] = []
  for (const { event } of stored) {
    const { account_id, id, app_id, type, created_at, body } = event
    rows.push(['event', account_id, id, app_id, type, created_at, offset, body.length])
    offset += body.length
  }
  for (const d of stored.flatMap(({ deliveries }) => deliveries)) {
    rows.push([
      'delivery',
      d.account_id,
      d.id,
      d.app_id,
      d.event_type,
      d.created_at,
      0,
      0,
      d.webhook_id,
      d.event_id,
      d.status,
      d.next_at,
      d.done_at,
      d.claim,
      d.trigger,
    ])
  }
  const bodies = Buffer.concat(stored.map(({ event }) => event.body))
  await query(insertStatement(t), [JSON.stringify(rows), bodies])
  return outcomes
}

function insertStatement(t: Tables): string {
  return `INSERT INTO ${t.publishing} (kind, account_id, id, app_id, type, created_at, body,
      webhook_id, event_id, status, next_at, done_at, claim, cause)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
      CASE WHEN value ->> 0 = 'event' THEN substr($2, value ->> 6, value ->> 7) END,
      value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13,
      value ->> 14
    FROM jsonb_each($1)`
}

/** Ids made here are new; those of callers may be kept already, or stand twice in the group. */
async function judgeIds(
  query: Query,
  t: Tables,
  events: readonly NewEvent[],
): Promise<readonly PublishOutcome[]> {
  const supplied = events.filter((event) => event.supplied)
  if (supplied.length === 0) return events.map(() => 'stored')
  const rows = await query(
    `SELECT e.* FROM json_each($1) asked
     JOIN ${t.events} e ON e.account_id = asked.value ->> 0 AND e.id = asked.value ->> 1`,
    [JSON.stringify(supplied.map(({ account_id, id }) => [account_id, id]))],
  )
  const kept = new Map<string, Pick<NewEvent, 'type' | 'app_id' | 'body'>>(
    rows.map(toEvent).map((event) => [`${event.account_id}\n${event.id}`, event]),
  )
  return events.map((event) => {
    const place = `${event.account_id}\n${event.id}`
    const known = kept.get(place)
    if (known === undefined) kept.set(place, event)
    if (known === undefined) return 'stored'
    return sameEvent(known, event) ? 'duplicate' : 'conflict'
  })
}

function toType(row: Row): EventTypeRecord {
  return {
    account_id: String(row['account_id']),
    type: String(row['type']),
    description: textOrNull(row['description']),
    schema: textOrNull(row['schema']),
    sample: textOrNull(row['sample']),
    created_at: integer(row['created_at']),
    updated_at: integer(row['updated_at']),
  }
}

function toEvent(row: Row): PlacedEvent {
  return {
    position: integer(row['position']),
    account_id: String(row['account_id']),
    id: String(row['id']),
    app_id: textOrNull(row['app_id']),
    type: String(row['type']),
    created_at: integer(row['created_at']),
    body: row['body'] as Uint8Array,
  }
}
