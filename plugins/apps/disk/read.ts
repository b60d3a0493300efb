import type { FileHandle } from 'node:fs/promises'
import type { ByteRange } from '../contract.ts'
import { bytesError } from '../errors.ts'
import { clip, requireUndamaged } from '../intake.ts'
import { sizeOf, withCopy } from './copies.ts'
import { onDisk, openFile, unlessMissing } from './folders.ts'

/** Like in a database. Every read costs the same; a slow reader holds two chunks in memory. */
const CHUNK = 256 * 1024

export async function readWhole(
  root: string,
  appId: string,
  sha256: string,
): Promise<Uint8Array | undefined> {
  const opened = await withCopy(root, appId, sha256, openFile)
  if (opened === undefined) return undefined
  const { handle } = opened
  try {
    const bytes = await onDisk(() => handle.readFile())
    requireUndamaged(sha256, bytes)
    return bytes
  } finally {
    await handle.close()
  }
}

/** The current file of a digest. */
export async function findKept(
  root: string,
  appId: string,
  sha256: string,
): Promise<string | undefined> {
  return withCopy(root, appId, sha256, async (path) => {
    await sizeOf(path)
    return path
  })
}

/**
 * Opens the file with the first read: a stream without a reader would leave it open.
 *
 * @param path where it was found; it may have been renamed since
 */
export async function* readPart(
  root: string,
  appId: string,
  sha256: string,
  range: ByteRange | undefined,
  path: string,
): AsyncGenerator<Uint8Array> {
  const opened =
    (await unlessMissing(() => openFile(path))) ?? (await withCopy(root, appId, sha256, openFile))
  if (opened === undefined) throw bytesError('bytes_gone')
  const { handle, size } = opened
  try {
    const { start, end } = clip(range, size)
    for (let at = start; at < end;) {
      const chunk = await readChunk(handle, at, Math.min(CHUNK, end - at))
      yield chunk
      at += chunk.length
    }
  } finally {
    await handle.close()
  }
}

async function readChunk(handle: FileHandle, at: number, most: number): Promise<Uint8Array> {
  // The caller owns the chunk, so buffers are not reused.
  const buffer = Buffer.allocUnsafeSlow(most)
  const { bytesRead } = await onDisk(() => handle.read(buffer, 0, most, at))
  if (bytesRead === 0) throw bytesError('bytes_damaged', { internal: 'the file was cut' })
  return buffer.subarray(0, bytesRead)
}
