import type { Publication } from '../../../../lib/engine/ports.ts'
import type { Query } from '../client.ts'
import { KeyhookError } from '../../../../lib/errors.ts'
import type { Row } from '../rows.ts'
import type { Tables } from '../tables.ts'
import { codeOf, LOCK_WAIT } from './statement.ts'

const LOCK_NOT_AVAILABLE = '55P03'

/**
 * A small JSON array of events, one blob of their bodies, and a JSON array of deliveries, of which only
 * those go in whose event did.
 *
 * An id that a caller gave may have been kept since it was looked up, by a transaction of an embedder's:
 * this waits for it to end.
 */
export async function publishGroup(
  query: Query,
  t: Tables,
  group: readonly Publication[],
): Promise<readonly Publication[]> {
  const mayWait = group.some(({ event }) => event.supplied)
  const insert = (): Promise<Row[]> =>
    query(insertStatement(t, mayWait), [
      JSON.stringify(toEventRows(group)),
      Buffer.concat(group.map(({ event }) => event.body)),
      JSON.stringify(
        group.flatMap(({ event, deliveries }) =>
          deliveries.map((delivery) => ({ ...delivery, published: event.id })),
        ),
      ),
    ])
  const rows = mayWait ? await withPatience(query, insert) : await insert()
  if (rows.length === group.length) return []
  const stored = new Set(rows.map(({ account_id, id }) => `${String(account_id)}\n${String(id)}`))
  return group.filter(({ event }) => !stored.has(`${event.account_id}\n${event.id}`))
}

/**
 * Nobody else can write while this waits, so it does not wait for long.
 *
 * @throws Error, no fault of the machine, when an id was not settled in time: the others of its group
 *   are published without it
 */
async function withPatience<T>(query: Query, insert: () => Promise<T>): Promise<T> {
  await query(`SET lock_timeout = ${LOCK_WAIT}`)
  try {
    return await insert()
  } catch (cause) {
    if (!isLockTimeout(cause)) throw cause
    throw new Error('an open transaction holds the id of an event', { cause })
  } finally {
    // Refused inside a transaction that failed, whose end takes the setting back by itself.
    await query('RESET lock_timeout').catch(() => undefined)
  }
}

function isLockTimeout(cause: unknown): boolean {
  return codeOf(cause instanceof KeyhookError ? cause.cause : cause) === LOCK_NOT_AVAILABLE
}

function insertStatement(t: Tables, isTakenAllowed: boolean): string {
  return `WITH stored AS (
      INSERT INTO ${t.events} (account_id, id, app_id, type, created_at, body)
      SELECT account_id, id, app_id, type, created_at, substring($2::bytea FROM start FOR length)
      FROM jsonb_to_recordset($1::jsonb) AS event (number integer, account_id text, id text,
        app_id text, type text, created_at bigint, start integer, length integer)
      ORDER BY number
      ${isTakenAllowed ? 'ON CONFLICT (account_id, id) DO NOTHING' : ''}
      RETURNING account_id, id
    ), born AS (
      INSERT INTO ${t.deliveries} (id, account_id, webhook_id, event_id, event_type, app_id, status,
        attempts, automatic, cause, retry, next_at, created_at, done_at, claim)
      SELECT d.id, d.account_id, d.webhook_id, d.event_id, d.event_type, d.app_id, d.status,
        0, 0, d.trigger, 0, d.next_at, d.created_at, d.done_at, d.claim
      FROM jsonb_to_recordset($3::jsonb) AS d (id text, account_id text, webhook_id text,
          event_id text, event_type text, app_id text, status text, trigger text, next_at bigint,
          created_at bigint, done_at bigint, claim text, published text)
        JOIN stored ON stored.account_id = d.account_id AND stored.id = d.published
    ) SELECT account_id, id FROM stored`
}

function toEventRows(group: readonly Publication[]): readonly object[] {
  // Counts bytes from 1, as substring does.
  let start = 1
  return group.map(({ event: { account_id, id, app_id, type, created_at, body } }, number) => {
    const row = { number, account_id, id, app_id, type, created_at, start, length: body.length }
    start += body.length
    return row
  })
}
