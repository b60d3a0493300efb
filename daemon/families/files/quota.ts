import { createHash } from 'node:crypto'
import { KeyhookError } from '../../../lib/errors.ts'
import type { AppBytes, Kept } from '../../../plugins/apps/contract.ts'
import type { FileReads } from '../../../plugins/platform/contract/files.ts'

/** Maximum files of one app, and maximum bytes of all of them. */
export const MAX_FILES = 1000
export const MAX_ALL_BYTES = 1_073_741_824

/** Digest and size of received bytes, and whether they were stored: bytes beyond the quota are not. */
export interface Received extends Kept {
  readonly isKept: boolean
}

/** The rest of an app's quota during one request. */
export interface FileQuota {
  /** Stores bytes within the quota; returns their digest and size in any case. */
  put(source: AsyncIterator<Uint8Array>): Promise<Received>
}

/**
 * Reads what an app's quota has left. Bytes beyond it are read and never written to the disk. The unit of work that
 * inserts the records checks the quota again.
 */
export async function readQuota(
  files: Pick<FileReads, 'sum' | 'bySha256'>,
  bytes: Pick<AppBytes, 'put'>,
  appId: string,
): Promise<FileQuota> {
  const used = await files.sum(appId)
  let filesLeft = MAX_FILES - used.files
  let left = MAX_ALL_BYTES - used.bytes
  return {
    async put(source) {
      const received = await putWithin(source, filesLeft > 0 ? left : 0, (chunks, limit) =>
        bytes.put(appId, chunks, { limit }),
      )
      if (received.isKept && (await files.bySha256(appId, received.sha256)) === undefined) {
        filesLeft -= 1
        left -= received.size
      }
      return received
    },
  }
}

/** Stores nothing; returns digest and size of the bytes. */
export const MEASURED: FileQuota = {
  put: (source) => putWithin(source, 0, () => Promise.resolve()),
}

async function putWithin(
  source: AsyncIterator<Uint8Array>,
  limit: number,
  put: (chunks: AsyncIterable<Uint8Array>, limit: number) => Promise<unknown>,
): Promise<Received> {
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
