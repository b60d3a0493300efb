import type { ByteRange, Kept, Listed } from '../contract.ts'
import { KeyhookError } from '../../../lib/errors.ts'
import { bytesError } from '../errors.ts'
import { clip, requireUndamaged } from '../intake.ts'
import type { BytesTables } from './tables.ts'
import { CHUNK } from './tables.ts'

/** The id of the chunks of a digest. */
interface Found {
  readonly id: string
  readonly size: number
}

export async function find(
  t: BytesTables,
  appId: string,
  sha256: string,
): Promise<Found | undefined> {
  const [row] = await t.read<{ id: string; size: unknown }>(
    `SELECT id, size FROM ${t.bytes} WHERE app_id = $1 AND sha256 = $2`,
    [appId, sha256],
  )
  return row === undefined ? undefined : { id: row.id, size: Number(row.size) }
}

/** All bytes; `undefined` when they were removed meanwhile. */
export async function readWhole(
  t: BytesTables,
  appId: string,
  sha256: string,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of readPart(t, appId, sha256, undefined)) chunks.push(chunk)
  } catch (cause) {
    if (isGone(cause)) return undefined
    throw cause
  }
  const bytes = Buffer.concat(chunks)
  requireUndamaged(sha256, bytes)
  return bytes
}

/** Reads one chunk at a time, looking up the digest first. */
export async function* readPart(
  t: BytesTables,
  appId: string,
  sha256: string,
  range: ByteRange | undefined,
): AsyncGenerator<Uint8Array> {
  const found = await find(t, appId, sha256)
  if (found === undefined) throw bytesError('bytes_gone')
  const { start, end } = clip(range, found.size)
  for (let at = start; at < end;) {
    const number = Math.floor(at / CHUNK)
    const chunk = await readChunk(t, found.id, number)
    const isWhole = chunk?.length === Math.min(CHUNK, found.size - number * CHUNK)
    if (chunk === undefined || !isWhole) throw await missingError(t, appId, sha256, found)
    const from = at - number * CHUNK
    const part = chunk.subarray(from, Math.min(chunk.length, from + end - at))
    yield part
    at += part.length
  }
}

async function readChunk(
  t: BytesTables,
  id: string,
  number: number,
): Promise<Uint8Array | undefined> {
  const [row] = await t.read<{ chunk: Uint8Array }>(
    `SELECT chunk FROM ${t.chunks} WHERE bytes_id = $1 AND number = $2`,
    [id, number],
  )
  return row?.chunk
}

/** Chunks are deleted only after their digest. */
async function missingError(
  t: BytesTables,
  appId: string,
  sha256: string,
  { id }: Found,
): Promise<Error> {
  const found = await find(t, appId, sha256)
  return bytesError(found?.id === id ? 'bytes_damaged' : 'bytes_gone')
}

const PAGE = 500

export async function* listRows(t: BytesTables, appId: string): AsyncGenerator<Listed> {
  let after = ''
  for (;;) {
    const rows = await t.read<Record<keyof Listed, unknown> & Pick<Kept, 'sha256'>>(
      `SELECT sha256, size, kept_at FROM ${t.bytes} WHERE app_id = $1 AND sha256 > $2
        ORDER BY sha256 LIMIT ${PAGE}`,
      [appId, after],
    )
    for (const { sha256, size, kept_at } of rows) {
      yield { sha256, size: Number(size), kept_at: Number(kept_at) }
    }
    if (rows.length < PAGE) return
    after = rows.at(-1)?.sha256 ?? after
  }
}

export async function* listApps(t: BytesTables): AsyncGenerator<string> {
  let after = ''
  for (;;) {
    const [row] = await t.read<{ app_id: string }>(
      `SELECT app_id FROM ${t.bytes} WHERE app_id > $1 AND sha256 IS NOT NULL
        ORDER BY app_id LIMIT 1`,
      [after],
    )
    if (row === undefined) return
    yield row.app_id
    after = row.app_id
  }
}

function isGone(cause: unknown): boolean {
  return cause instanceof KeyhookError && cause.code === 'bytes_gone'
}
