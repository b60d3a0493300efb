import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../lib/engine/ports.ts'
import { kernelError } from '../../../lib/errors.ts'
import { MINUTE } from '../../../lib/time.ts'
import type { Kept, PutOptions } from '../contract.ts'
import type { Intake } from '../intake.ts'
import { digestOf, takeIn } from '../intake.ts'
import { discard } from './remove.ts'
import type { BytesTables } from './tables.ts'
import { CHUNK } from './tables.ts'

export async function put(
  t: BytesTables,
  clock: Pick<Clock, 'now'>,
  appId: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  options: PutOptions = {},
): Promise<Kept> {
  if (bytes instanceof Uint8Array) {
    const { limit = Infinity, signal } = options
    // Its own copy: the caller may change the bytes while they are written.
    const chunk = t.insertsIntoBoth && isOneChunk(bytes) ? Buffer.from(bytes) : undefined
    const kept = { sha256: digestOf(chunk ?? bytes), size: bytes.length }
    if (bytes.length <= limit && signal?.aborted !== true) {
      if (await renew(t, clock, appId, kept.sha256)) return kept
      signal?.throwIfAborted()
      if (chunk !== undefined) return writeAtOnce(t, clock, appId, chunk, kept)
    }
  }
  return writeNew(t, clock, appId, takeIn(bytes, options), options.signal)
}

const isOneChunk = ({ length }: Uint8Array): boolean => length > 0 && length <= CHUNK

/** Writes one chunk and its digest in one commit: most files are small, and each commit waits for the disk. */
async function writeAtOnce(
  t: BytesTables,
  clock: Pick<Clock, 'now'>,
  appId: string,
  chunk: Uint8Array,
  kept: Kept,
): Promise<Kept> {
  const write = t.write(
    `WITH named AS (
       INSERT INTO ${t.bytes} (id, app_id, sha256, size, kept_at) VALUES ($1, $2, $3, $4, $5)
       RETURNING id
     )
     INSERT INTO ${t.chunks} (bytes_id, number, chunk) SELECT id, 0, $6 FROM named RETURNING 1`,
    [randomUUID(), appId, kept.sha256, kept.size, clock.now(), chunk],
  )
  await write.catch((cause: unknown) => renewAfter(t, clock, appId, kept.sha256, cause))
  return kept
}

/** A digest is unique: what failed may have come after another put of the same bytes, which is renewed. */
async function renewAfter(
  t: BytesTables,
  clock: Pick<Clock, 'now'>,
  appId: string,
  sha256: string,
  cause: unknown,
): Promise<undefined> {
  if (!(await renew(t, clock, appId, sha256))) throw cause
}

/** Renews stored bytes; false when there are none. */
async function renew(
  t: BytesTables,
  clock: Pick<Clock, 'now'>,
  appId: string,
  sha256: string,
): Promise<boolean> {
  const now = clock.now()
  const renewed = await t.write(
    `UPDATE ${t.bytes} SET kept_at = CASE WHEN kept_at < $3 THEN $3 ELSE kept_at END
      WHERE app_id = $1 AND sha256 = $2 RETURNING 1`,
    [appId, sha256, now],
  )
  return renewed.length > 0
}

/**
 * Writes chunks under a new id, one commit each, and sets their digest at the end.
 *
 * Until then they are not readable; when it throws they are deleted, if need be by a later sweep.
 */
async function writeNew(
  t: BytesTables,
  clock: Pick<Clock, 'now'>,
  appId: string,
  intake: Intake,
  signal: AbortSignal | undefined,
): Promise<Kept> {
  const id = randomUUID()
  let touched = clock.now()
  await t.write(
    `INSERT INTO ${t.bytes} (id, app_id, sha256, size, kept_at) VALUES ($1, $2, NULL, 0, $3)
      RETURNING 1`,
    [id, appId, touched],
  )
  try {
    let number = 0
    for await (const chunk of cut(intake.chunks)) {
      await t.write(
        `INSERT INTO ${t.chunks} (bytes_id, number, chunk) VALUES ($1, $2, $3) RETURNING 1`,
        [id, number, chunk],
      )
      number += 1
      if (clock.now() - touched < MINUTE) continue
      touched = clock.now()
      await touch(t, id, touched)
    }
    signal?.throwIfAborted()
    const kept = intake.kept()
    if (!(await name(t, clock, appId, id, kept))) await discard(t, id)
    return kept
  } catch (cause) {
    await discard(t, id).catch(() => undefined)
    throw cause
  }
}

async function touch(t: BytesTables, id: string, now: number): Promise<void> {
  await t.write(
    `UPDATE ${t.bytes} SET kept_at = $2
      WHERE id = $1 AND sha256 IS NULL AND kept_at > 0 RETURNING 1`,
    [id, now],
  )
}

/** Sets the digest of written chunks; false when the bytes were stored already and were renewed instead. */
async function name(
  t: BytesTables,
  clock: Pick<Clock, 'now'>,
  appId: string,
  id: string,
  { sha256, size }: Kept,
): Promise<boolean> {
  if (await renew(t, clock, appId, sha256)) return false
  const take = (): Promise<unknown[]> =>
    t.write(
      `UPDATE ${t.bytes} SET sha256 = $2, size = $3, kept_at = $4
        WHERE id = $1 AND sha256 IS NULL AND kept_at > 0 RETURNING 1`,
      [id, sha256, size, clock.now()],
    )
  const taken = await take().catch((cause: unknown) => renewAfter(t, clock, appId, sha256, cause))
  if (taken?.length === 0) {
    throw kernelError('unavailable', { internal: `unfinished bytes of ${appId} were swept` })
  }
  return taken !== undefined
}

/** The bytes in chunks of one size, each a copy; the last may be smaller. */
async function* cut(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let buffer = Buffer.allocUnsafe(CHUNK)
  let filled = 0
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + CHUNK - filled)
      buffer.set(part, filled)
      filled += part.length
      at += part.length
      if (filled < CHUNK) continue
      yield buffer
      buffer = Buffer.allocUnsafe(CHUNK)
      filled = 0
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled)
}
