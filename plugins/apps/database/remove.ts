import type { Clock } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import { HOUR } from '../../../lib/time.ts'
import type { BytesTables } from './tables.ts'

/** Maximum digests and chunks per statement: others wait for it. */
const MAX_NAMED = 500
const MAX_CHUNKS = 16
const MAX_CLEARED = 100

/**
 * Removes the digests of older bytes in one statement, then deletes the chunks. Rows that are locked are
 * skipped.
 */
export async function removeAll(
  t: BytesTables,
  appId: string,
  sha256s: readonly string[],
  before: Instant,
): Promise<number> {
  let went = 0
  for (let at = 0; at < sha256s.length; at += MAX_NAMED) {
    const named = JSON.stringify(sha256s.slice(at, at + MAX_NAMED))
    const rows = await t.write(
      `UPDATE ${t.bytes} SET sha256 = NULL, kept_at = 0
        WHERE id IN (
          SELECT id FROM ${t.bytes}
            WHERE app_id = $1 AND ${t.among('sha256', '$2')} AND kept_at < $3 ${t.skipLocked}
        ) RETURNING 1`,
      [appId, named, before],
    )
    went += rows.length
  }
  if (went > 0) await clearAll(t)
  return went
}

/** Unfinished puts stay. */
export async function dropAll(t: BytesTables, appId: string): Promise<void> {
  await t.write(
    `UPDATE ${t.bytes} SET sha256 = NULL, kept_at = 0
      WHERE app_id = $1 AND sha256 IS NOT NULL RETURNING 1`,
    [appId],
  )
  await clearAll(t)
}

/** Deletes written chunks that got no digest. */
export async function discard(t: BytesTables, id: string): Promise<void> {
  await t.write(`UPDATE ${t.bytes} SET kept_at = 0 WHERE id = $1 AND sha256 IS NULL RETURNING 1`, [
    id,
  ])
  await clearOne(t, id)
}

/** Deletes what killed processes left. */
export async function sweep(t: BytesTables, clock: Pick<Clock, 'now'>): Promise<void> {
  await t.write(
    `UPDATE ${t.bytes} SET kept_at = 0
      WHERE sha256 IS NULL AND kept_at > 0 AND kept_at < $1 RETURNING 1`,
    [clock.now() - HOUR],
  )
  await clearAll(t)
}

/** Deletes all chunks that are neither stored nor being written. */
async function clearAll(t: BytesTables): Promise<void> {
  const ended = `SELECT id FROM ${t.bytes}
    WHERE sha256 IS NULL AND kept_at = 0 LIMIT ${MAX_CLEARED}`
  for (let more = true; more;) {
    const rows = await t.read<{ id: string }>(ended)
    for (const { id } of rows) await clearOne(t, id)
    more = rows.length === MAX_CLEARED
  }
}

/** A few chunks per statement. */
async function clearOne(t: BytesTables, id: string): Promise<void> {
  for (let more = true; more;) {
    const rows = await t.write(
      `DELETE FROM ${t.chunks} WHERE bytes_id = $1 AND number IN (
        SELECT number FROM ${t.chunks} WHERE bytes_id = $1 ORDER BY number LIMIT ${MAX_CHUNKS}
          ${t.skipLocked}
      ) RETURNING 1`,
      [id],
    )
    more = rows.length === MAX_CHUNKS
  }
  await t.write(
    `DELETE FROM ${t.bytes} WHERE id = $1 AND sha256 IS NULL AND kept_at = 0 RETURNING 1`,
    [id],
  )
}
