import type { DeliveryRecord, Publication } from '../../../../lib/engine/ports.ts'
import type { Query } from '../client.ts'
import { KeyhookError } from '../../../../lib/errors.ts'
import type { Tables } from '../tables.ts'
import { fieldsOf } from './fields.ts'
import { codeOf, LOCK_WAIT } from './statement.ts'

const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Binds a small JSON array of events, one blob of their bodies, and a JSON array of deliveries. A delivery
 * is inserted only with its event.
 *
 * A transaction of the embedder may have inserted an id from a caller since it was looked up: this waits
 * for its end.
 */
export async function publishGroup(
  query: Query,
  t: Tables,
  group: readonly Publication[],
): Promise<readonly Publication[]> {
  const isTraced = group.some(({ event }) => event.traceparent !== undefined)
  const bind = [
    JSON.stringify(toEventRows(group)),
    Buffer.concat(group.map(({ event }) => event.body)),
    JSON.stringify(
      group.flatMap(({ deliveries }, number) =>
        deliveries.map((delivery) => toDeliveryRow(number, delivery)),
      ),
    ),
  ]
  if (!group.some(({ event }) => event.supplied)) {
    await query(insertStatement(t, isTraced), bind)
    return []
  }
  const rows = await withLockTimeout(query, () =>
    query(insertUnlessKeptStatement(t, isTraced), bind),
  )
  if (rows.length === group.length) return []
  const stored = new Set(rows.map(({ account_id, id }) => `${String(account_id)}\n${String(id)}`))
  return group.filter(({ event }) => !stored.has(`${event.account_id}\n${event.id}`))
}

/**
 * The wait is short, since it blocks other writes.
 *
 * @throws Error, not `unavailable`, when the other transaction did not end in time: the other events of the
 *   group are then published without this one
 */
async function withLockTimeout<T>(query: Query, insert: () => Promise<T>): Promise<T> {
  await query(`SET lock_timeout = ${LOCK_WAIT}`)
  try {
    return await insert()
  } catch (cause) {
    if (!isLockTimeout(cause)) throw cause
    throw new Error('an open transaction holds the id of an event', { cause })
  } finally {
    // Fails inside a failed transaction, whose end restores the setting.
    await query('RESET lock_timeout').catch(() => undefined)
  }
}

function isLockTimeout(cause: unknown): boolean {
  return codeOf(cause instanceof KeyhookError ? cause.cause : cause) === LOCK_NOT_AVAILABLE
}

const EVENT = [
  'number integer',
  'account_id text',
  'id text',
  'app_id text',
  'type text',
  'created_at bigint',
  'start integer',
  'length integer',
] as const
/** Only where one of a group has it. */
const TRACED_EVENT = [...EVENT, 'traceparent text'] as const

function toEventRows(group: readonly Publication[]): readonly (readonly unknown[])[] {
  // Counts bytes from 1, as substring does.
  let start = 1
  return group.map(({ event }, number) => {
    const { account_id, id, app_id, type, created_at, body, traceparent } = event
    const row = [number, account_id, id, app_id, type, created_at, start, body.length]
    if (traceparent !== undefined) row.push(traceparent)
    start += body.length
    return row
  })
}

/** The columns of a delivery that differ from its event, after the number of the event. */
const DELIVERY = [
  'number integer',
  'id text',
  'webhook_id text',
  'status text',
  'cause text',
  'next_at bigint',
  'created_at bigint',
  'done_at bigint',
  'claim text',
] as const

function toDeliveryRow(number: number, delivery: DeliveryRecord): readonly unknown[] {
  const { id, webhook_id, status, trigger, next_at, created_at, done_at, claim } = delivery
  return [number, id, webhook_id, status, trigger, next_at, created_at, done_at, claim]
}

/** For generated ids, which cannot exist already. */
function insertStatement(t: Tables, isTraced: boolean): string {
  return `WITH event AS MATERIALIZED (${eventFields(isTraced)}),
    created AS (${insertDeliveries(t, 'event')})
    ${insertEvents(t, isTraced)}`
}

function insertUnlessKeptStatement(t: Tables, isTraced: boolean): string {
  return `WITH event AS MATERIALIZED (${eventFields(isTraced)}),
    stored AS (${insertEvents(t, isTraced)}
      ON CONFLICT (account_id, id) DO NOTHING RETURNING account_id, id),
    created AS (${insertDeliveries(t, 'event JOIN stored USING (account_id, id)')})
    SELECT account_id, id FROM stored`
}

function eventFields(isTraced: boolean): string {
  return fieldsOf('$1', isTraced ? TRACED_EVENT : EVENT)
}

function insertEvents(t: Tables, isTraced: boolean): string {
  const more = isTraced ? ', traceparent' : ''
  return `INSERT INTO ${t.events} (account_id, id, app_id, type, created_at, body${more})
    SELECT account_id, id, app_id, type, created_at, substring($2::bytea FROM start FOR length)${more}
    FROM event ORDER BY number`
}

function insertDeliveries(t: Tables, events: string): string {
  return `INSERT INTO ${t.deliveries} (id, account_id, webhook_id, event_id, event_type, app_id,
      status, attempts, automatic, cause, retry, next_at, created_at, done_at, claim)
    SELECT d.id, account_id, d.webhook_id, event.id, type, app_id,
      d.status, 0, 0, d.cause, 0, d.next_at, d.created_at, d.done_at, d.claim
    FROM ${events} JOIN (${fieldsOf('$3', DELIVERY)}) AS d USING (number)`
}
