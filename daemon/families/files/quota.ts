import { createHash } from 'node:crypto'
import { KeyhookError } from '../../../lib/errors.ts'
import type { AppBytes, Kept } from '../../../plugins/apps/contract.ts'
import type { FileReads } from '../../../plugins/platform/contract/files.ts'

/** Files that one app may have, and their bytes in all. */
export const MAX_FILES = 1000
export const MAX_ALL_BYTES = 1_073_741_824

/** Bytes by their digest; those that there was no room for are not kept. */
export interface Taken extends Kept {
  readonly isKept: boolean
}

/** What an app may still take, as one request sees it. */
export interface FileQuota {
  /** Keeps bytes as far as there is room, and tells in any case what they are. */
  put(source: AsyncIterator<Uint8Array>): Promise<Taken>
}

/**
 * The limits hold before bytes are kept: what is beyond them is read, and never on the disk. The unit of
 * work that makes the records judges again.
 */
export async function readQuota(
  files: Pick<FileReads, 'sum' | 'bySha256'>,
  bytes: Pick<AppBytes, 'put'>,
  appId: string,
): Promise<FileQuota> {
  const held = await files.sum(appId)
  let filesLeft = MAX_FILES - held.files
  let left = MAX_ALL_BYTES - held.bytes
  return {
    async put(source) {
      const taken = await putWithin(source, filesLeft > 0 ? left : 0, (chunks, limit) =>
        bytes.put(appId, chunks, { limit }),
      )
      if (taken.isKept && (await files.bySha256(appId, taken.sha256)) === undefined) {
        filesLeft -= 1
        left -= taken.size
      }
      return taken
    },
  }
}

/** Keeps nothing, and tells what the bytes are. */
export const MEASURED: FileQuota = {
  put: (source) => putWithin(source, 0, () => Promise.resolve()),
}

async function putWithin(
  source: AsyncIterator<Uint8Array>,
  limit: number,
  put: (chunks: AsyncIterable<Uint8Array>, limit: number) => Promise<unknown>,
): Promise<Taken> {
  const hash = createHash('sha256')
  let size = 0

  async function next(): Promise<Uint8Array | undefined> {
    const result = await source.next()
    if (result.done === true) return undefined
    hash.update(result.value)
    size += result.value.length
    return result.value
  }

  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let chunk = await next(); chunk !== undefined; chunk = await next()) yield chunk
  }

  const isKept = limit > 0 && (await fits(put(chunks(), limit)))
  while ((await next()) !== undefined);
  return { sha256: hash.digest('hex'), size, isKept }
}

async function fits(putting: Promise<unknown>): Promise<boolean> {
  try {
    await putting
    return true
  } catch (cause) {
    if (cause instanceof KeyhookError && cause.code === 'bytes_too_large') return false
    throw cause
  }
}
