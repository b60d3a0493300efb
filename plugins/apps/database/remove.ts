import type { Clock } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import { HOUR } from '../../../lib/time.ts'
import type { BytesTables } from './tables.ts'

/** How many digests one statement takes, and how many chunks: others wait for it. */
const MOST_NAMED = 500
const MOST_CHUNKS = 16
const MOST_CLEARED = 100

/**
 * Takes the digests off what is older, at once; then clears it away. What another renews or takes at that
 * moment is passed over.
 */
export async function removeAll(
  t: BytesTables,
  appId: string,
  sha256s: readonly string[],
  before: Instant,
): Promise<number> {
  let went = 0
  for (let at = 0; at < sha256s.length; at += MOST_NAMED) {
    const named = JSON.stringify(sha256s.slice(at, at + MOST_NAMED))
    const rows = await t.write(
      `UPDATE ${t.bytes} SET sha256 = NULL, kept_at = 0
        WHERE id IN (
          SELECT id FROM ${t.bytes}
            WHERE app_id = $1 AND ${t.among('sha256', '$2')} AND kept_at < $3 ${t.passOver}
        ) RETURNING 1`,
      [appId, named, before],
    )
    went += rows.length
  }
  if (went > 0) await clearAll(t)
  return went
}

/** What is being written meanwhile stays. */
export async function dropAll(t: BytesTables, appId: string): Promise<void> {
  await t.write(
    `UPDATE ${t.bytes} SET sha256 = NULL, kept_at = 0
      WHERE app_id = $1 AND sha256 IS NOT NULL RETURNING 1`,
    [appId],
  )
  await clearAll(t)
}

/** Clears away what was written and got no digest. */
export async function discard(t: BytesTables, id: string): Promise<void> {
  await t.write(`UPDATE ${t.bytes} SET kept_at = 0 WHERE id = $1 AND sha256 IS NULL RETURNING 1`, [
    id,
  ])
  await clearOne(t, id)
}

/** Clears away what was left by those who were killed. */
export async function sweep(t: BytesTables, clock: Pick<Clock, 'now'>): Promise<void> {
  await t.write(
    `UPDATE ${t.bytes} SET kept_at = 0
      WHERE sha256 IS NULL AND kept_at > 0 AND kept_at < $1 RETURNING 1`,
    [clock.now() - HOUR],
  )
  await clearAll(t)
}

/** Clears away all that nobody keeps or writes any more. */
async function clearAll(t: BytesTables): Promise<void> {
  const ended = `SELECT id FROM ${t.bytes}
    WHERE sha256 IS NULL AND kept_at = 0 LIMIT ${MOST_CLEARED}`
  for (let more = true; more;) {
    const rows = await t.read<{ id: string }>(ended)
    for (const { id } of rows) await clearOne(t, id)
    more = rows.length === MOST_CLEARED
  }
}

/** A few chunks at a time. */
async function clearOne(t: BytesTables, id: string): Promise<void> {
  for (let more = true; more;) {
    const rows = await t.write(
      `DELETE FROM ${t.chunks} WHERE bytes_id = $1 AND number IN (
        SELECT number FROM ${t.chunks} WHERE bytes_id = $1 ORDER BY number LIMIT ${MOST_CHUNKS}
          ${t.passOver}
      ) RETURNING 1`,
      [id],
    )
    more = rows.length === MOST_CHUNKS
  }
  await t.write(
    `DELETE FROM ${t.bytes} WHERE id = $1 AND sha256 IS NULL AND kept_at = 0 RETURNING 1`,
    [id],
  )
}
