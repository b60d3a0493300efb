import type { Change } from '../../../../lib/engine/changes.ts'
import type { LeaseHolder } from '../../../../lib/engine/acknowledgements.ts'
import type { LeaseRenewal } from '../../../../lib/engine/lease.ts'
import { LEASE } from '../../../../lib/engine/lease.ts'
import type { Instant } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { Query } from '../client.ts'
import { integer } from '../rows.ts'
import type { Tables } from '../tables.ts'
import type { PgClient } from './source.ts'
import { ask, askAll } from './statement.ts'

/** How long changes are kept: a process whose lease ended reads none of them. */
const KEPT = '1 minute'
/** Claims of a process are given back when its lease ended this long ago. */
const GONE = '4 seconds'
/** Who came this lately looks for what others left, whether or not they are remembered. */
const ARRIVING = '15 seconds'
/** Who was cut off itself may not judge others before they had time to come back. */
const SETTLED_IN = '6 seconds'

/** A round of the lease, and what the database's clock said in it. */
export interface TimedRound extends LeaseRenewal {
  readonly now: Instant
}

/**
 * Renews a process's lease and reads what changed beyond `seq`, in one trip.
 *
 * The lock comes first, and each statement sees what was committed before itself: whoever commits a
 * change holds it exclusively, so a change is either read here, or its maker sees this lease. Therefore
 * READ COMMITTED.
 */
export async function renewLease(
  client: PgClient,
  t: Tables,
  id: string,
  seq: number,
): Promise<TimedRound> {
  const [, head, changes, lease] = await askAll(
    client,
    `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
     SELECT seq FROM ${t.changes_head} FOR SHARE;
     SELECT changes FROM ${t.changes} WHERE seq > ${seq} ORDER BY seq;
     INSERT INTO ${t.processes} AS own (id, joined_at, lease_until, applied)
       VALUES ('${id}', clock_timestamp(), clock_timestamp() + ${LEASE_SPAN}, ${seq})
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

/** Forgets changes that nobody reads any more, and processes that are long gone. */
export async function sweep(client: PgClient, t: Tables): Promise<void> {
  await askAll(
    client,
    `DELETE FROM ${t.changes} WHERE at < clock_timestamp() - interval '${KEPT}';
     DELETE FROM ${t.processes} WHERE lease_until < clock_timestamp() - interval '${KEPT}'`,
  )
}

export async function leave(client: PgClient, t: Tables, id: string): Promise<void> {
  await ask(client, { text: `DELETE FROM ${t.processes} WHERE id = $1`, values: [id] })
}

/** A change that is about to be committed, and who went by the older state at that moment. */
export interface RecordedChange {
  readonly seq: number
  readonly holders: readonly LeaseHolder[]
}

/**
 * Records a change in the unit of work that made it, as its last step: the lock that orders changes is
 * held from here to the commit.
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
  // A statement of its own: it must see the leases that were granted while the lock was waited for.
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

/** The last change that is committed, and who goes by the state before it, whoever made it. */
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

/** What processes acknowledged; one that has left goes by nothing any more. */
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
 * A condition on a claimed delivery: whoever claimed it is gone. With no other process remembered that is
 * everybody but this one; else those whose lease ended a while ago, judged by who was here meanwhile:
 * after a crash of the server every lease has ended, and nobody is gone.
 *
 * @param id where the id of this process is bound; claims begin with the id of who made them
 */
export function isAbandoned(t: Tables, id: string): string {
  const claimant = `split_part(claim, '.', 1)`
  const others = `SELECT 1 FROM ${t.processes} other WHERE other.id <> ${id}`
  const own = `SELECT 1 FROM ${t.processes} own WHERE own.id = ${id}`
  // First what is asked once: while nobody is missed, no delivery is looked at.
  return `((EXISTS (${own} AND own.joined_at > clock_timestamp() - interval '${ARRIVING}')
      OR EXISTS (${others} AND other.lease_until < clock_timestamp() - interval '${GONE}'))
    AND ${claimant} <> ${id} AND (
      NOT EXISTS (${others})
      OR NOT EXISTS (SELECT 1 FROM ${t.processes} live WHERE live.id = ${claimant}
          AND live.lease_until > clock_timestamp() - interval '${GONE}')
        AND EXISTS (${own} AND own.joined_at < clock_timestamp() - interval '${SETTLED_IN}')))`
}
