import type { Change } from '../../../../lib/engine/changes.ts'
import type { LeaseHolder } from '../../../../lib/engine/acknowledgements.ts'
import type { LeaseRenewal, LeaseState } from '../../../../lib/engine/lease.ts'
import { LEASE } from '../../../../lib/engine/lease.ts'
import type { Instant } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { Query } from '../client.ts'
import { integer } from '../rows.ts'
import type { Tables } from '../tables.ts'
import { lockOf } from './notifications.ts'
import type { PgClient } from './source.ts'
import { ask, askAll } from './statement.ts'

/** Retention of changes: a process whose lease expired does not read them. */
const KEPT = '1 minute'
/** The claims of a process are released this long after its lease expired. */
const GONE = '4 seconds'
/** A process that joined within this time recovers claims also of processes without a row. */
const ARRIVING = '15 seconds'
/** A process that was disconnected waits this long before it considers others as ended. */
const SETTLED_IN = '6 seconds'

/** A renewal of the lease, with the database's clock. */
export interface TimedRound extends LeaseRenewal {
  readonly now: Instant
}

/**
 * Renews the lease of a process and reads the changes after `known`, in one round trip.
 *
 * It takes the lock first, and each statement sees what was committed before it (READ COMMITTED). A writer
 * holds the lock exclusively, so either this reads its change, or the writer sees this lease.
 */
export async function renewLease(
  client: PgClient,
  t: Tables,
  id: string,
  { known, acknowledged }: LeaseState,
): Promise<TimedRound> {
  const [, head, changes, lease] = await askAll(
    client,
    `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
     SELECT seq FROM ${t.changes_head} FOR SHARE;
     SELECT changes FROM ${t.changes} WHERE seq > ${known} ORDER BY seq;
     INSERT INTO ${t.processes} AS own (id, joined_at, lease_until, applied)
       VALUES ('${id}', clock_timestamp(), clock_timestamp() + ${LEASE_SPAN}, ${acknowledged})
       ON CONFLICT (id) DO UPDATE SET applied = excluded.applied, lease_until = excluded.lease_until,
         joined_at = CASE WHEN own.lease_until < clock_timestamp() THEN excluded.joined_at
           ELSE own.joined_at END
       RETURNING extract(epoch FROM clock_timestamp()) * ${SECOND} AS now;
     COMMIT`,
  )
  return {
    seq: integer(head?.[0]?.['seq']),
    changes: (changes ?? []).flatMap((row) => JSON.parse(String(row['changes'])) as Change[]),
    now: integer(lease?.[0]?.['now']),
  }
}

const LEASE_SPAN = `interval '${LEASE} milliseconds'`

export async function acknowledge(
  client: PgClient,
  t: Tables,
  { id, seq, channel }: { readonly id: string; readonly seq: number; readonly channel: string },
): Promise<void> {
  await ask(client, {
    text: `WITH known AS (UPDATE ${t.processes} SET applied = $2 WHERE id = $1 RETURNING id)
      SELECT pg_notify($3, 'known ' || $1 || ' ' || $2::bigint) FROM known`,
    values: [id, seq, channel],
  })
}

/** Deletes changes past their retention, and processes that ended long ago. */
export async function sweep(client: PgClient, t: Tables): Promise<void> {
  await askAll(
    client,
    `DELETE FROM ${t.changes} WHERE at < clock_timestamp() - interval '${KEPT}';
     DELETE FROM ${t.processes} WHERE lease_until < clock_timestamp() - interval '${KEPT}'`,
  )
}

/**
 * Writers no longer wait for this process, and a version that migrates can start. The lock is released here,
 * because the server does so only some time after the connection was closed.
 */
export async function leave(client: PgClient, t: Tables, id: string): Promise<void> {
  await ask(client, { text: `DELETE FROM ${t.processes} WHERE id = $1`, values: [id] })
  await ask(client, { text: `SELECT pg_advisory_unlock_shared(${lockOf(t, 'serving')})` })
}

/** A change that is about to be committed, with the processes that hold a lease at that moment. */
export interface RecordedChange {
  readonly seq: number
  readonly holders: readonly LeaseHolder[]
}

/**
 * Records a change as the last statement of its unit of work. The lock that orders changes is held from
 * here to the commit.
 */
export async function recordChange(
  query: Query,
  t: Tables,
  { id, changes, channel }: { id: string; changes: readonly Change[]; channel: string },
): Promise<RecordedChange> {
  const [recorded] = await query(
    `WITH head AS (UPDATE ${t.changes_head} SET seq = seq + 1 RETURNING seq)
     INSERT INTO ${t.changes} (seq, at, changes) SELECT seq, clock_timestamp(), $1 FROM head
     RETURNING seq, pg_notify($2, 'changed')`,
    [JSON.stringify(changes), channel],
  )
  // A separate statement: it must see the leases that were granted during the wait for the lock.
  const rows = await query(
    `SELECT id, extract(epoch FROM lease_until - clock_timestamp()) * ${SECOND} AS left_over
     FROM ${t.processes} WHERE id <> $1 AND lease_until > clock_timestamp()`,
    [id],
  )
  return {
    seq: integer(recorded?.['seq']),
    holders: rows.map((row) => ({ id: String(row['id']), left: integer(row['left_over']) })),
  }
}

/** The last committed change, with the processes that have not acknowledged it. */
export async function lastChange(query: Query, t: Tables): Promise<RecordedChange> {
  const rows = await query(
    `SELECT head.seq, p.id, extract(epoch FROM p.lease_until - clock_timestamp()) * ${SECOND} AS left_over
     FROM ${t.changes_head} head JOIN ${t.processes} p
       ON p.applied < head.seq AND p.lease_until > clock_timestamp()`,
  )
  return {
    seq: integer(rows[0]?.['seq'] ?? 0),
    holders: rows.map((row) => ({ id: String(row['id']), left: integer(row['left_over']) })),
  }
}

/** The acknowledgements of processes; a process that has left uses no cache. */
export async function acknowledgedBy(
  query: Query,
  t: Tables,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await query(`SELECT id, applied FROM ${t.processes} WHERE id = ANY ($1)`, [ids])
  const applied = new Map(rows.map((row) => [String(row['id']), integer(row['applied'])]))
  return new Map(ids.map((id) => [id, applied.get(id) ?? Infinity]))
}

/**
 * A condition on a claimed delivery: its process has ended. Without a row of another process that is every
 * process but this one; otherwise those whose lease expired a while ago while others were connected: after a
 * crash of the server every lease has expired, but no process has ended.
 *
 * @param id parameter with the id of this process; claim tokens begin with the id of their process
 */
export function isAbandoned(t: Tables, id: string): string {
  const claimant = `split_part(claim, '.', 1)`
  const others = `SELECT 1 FROM ${t.processes} other WHERE other.id <> ${id}`
  const own = `SELECT 1 FROM ${t.processes} own WHERE own.id = ${id}`
  // The constant condition comes first: while no process is missing, no delivery is read.
  return `((EXISTS (${own} AND own.joined_at > clock_timestamp() - interval '${ARRIVING}')
      OR EXISTS (${others} AND other.lease_until < clock_timestamp() - interval '${GONE}'))
    AND ${claimant} <> ${id} AND (
      NOT EXISTS (${others})
      OR NOT EXISTS (SELECT 1 FROM ${t.processes} live WHERE live.id = ${claimant}
          AND live.lease_until > clock_timestamp() - interval '${GONE}')
        AND EXISTS (${own} AND own.joined_at < clock_timestamp() - interval '${SETTLED_IN}')))`
}
