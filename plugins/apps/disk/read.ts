import type { FileHandle } from 'node:fs/promises'
import type { ByteRange } from '../contract.ts'
import { bytesError } from '../errors.ts'
import { requireUndamaged } from '../intake.ts'
import { clip } from '../names.ts'
import { withCopy } from './copies.ts'
import { onDisk } from './faults.ts'
import { openFile } from './folders.ts'

const CHUNK = 64 * 1024

export async function readWhole(
  root: string,
  appId: string,
  sha256: string,
): Promise<Uint8Array | undefined> {
  const handle = await withCopy(root, appId, sha256, openFile)
  if (handle === undefined) return undefined
  try {
    const bytes = await onDisk(() => handle.readFile())
    requireUndamaged(sha256, bytes)
    return bytes
  } finally {
    await handle.close()
  }
}

export async function isKept(root: string, appId: string, sha256: string): Promise<boolean> {
  const found = await withCopy(root, appId, sha256, async (path) => {
    await (await openFile(path)).close()
    return true
  })
  return found ?? false
}

/** Opens the file once it is read: a stream that nobody reads would leave it open. */
export async function* readPart(
  root: string,
  appId: string,
  sha256: string,
  range: ByteRange | undefined,
): AsyncGenerator<Uint8Array> {
  const handle = await withCopy(root, appId, sha256, openFile)
  if (handle === undefined) throw bytesError('bytes_gone')
  try {
    const { size } = await onDisk(() => handle.stat())
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
  const buffer = new Uint8Array(most)
  const { bytesRead } = await onDisk(() => handle.read(buffer, 0, most, at))
  if (bytesRead === 0) throw bytesError('bytes_damaged', { internal: 'the file was cut' })
  return buffer.subarray(0, bytesRead)
}
