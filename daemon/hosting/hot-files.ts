import { LRUCache } from 'lru-cache'
import type { AppBytes, Kept } from '../../plugins/apps/contract.ts'

/** Small files that are asked for, in memory. */
export interface HotFiles {
  /** Whether a file of that size is ever kept. */
  takes(size: number): boolean
  /** What is in memory. */
  peek(sha256: string): Buffer | undefined
  /**
   * Reads a file, once for all who ask meanwhile, and keeps it.
   *
   * @throws Error when it is not there or not what the manifest says; what reading throws
   */
  load(appId: string, kept: Kept): Promise<Buffer>
  /** What is kept, in bytes. */
  readonly size: number
}

export interface HotLimits {
  /** Bytes of the largest file. */
  readonly file: number
  /** Bytes in all. */
  readonly total: number
}

const LIMITS: HotLimits = { file: 64 * 1024, total: 64 * 1024 * 1024 }

/** What an entry takes beside its bytes, so that empty files are not kept without number. */
const OVERHEAD = 512

/**
 * Keeps what was asked for last, by digest: what a digest names never changes, and nothing is ever out of
 * date.
 */
export function createHotFiles(bytes: Pick<AppBytes, 'get'>, limits: HotLimits = LIMITS): HotFiles {
  const files = new LRUCache<string, Buffer>({
    maxSize: limits.total,
    sizeCalculation: ({ length }) => length + OVERHEAD,
  })
  const loading = new Map<string, Promise<Buffer>>()

  async function read(appId: string, kept: Kept): Promise<Buffer> {
    const found = await bytes.get(appId, kept.sha256)
    if (found?.length !== kept.size) throw new Error(`${kept.sha256} is not whole`)
    // A copy, since what was given may be a small part of something large.
    const file = Buffer.allocUnsafeSlow(kept.size)
    file.set(found)
    files.set(kept.sha256, file)
    return file
  }

  return {
    takes: (wanted) => wanted <= limits.file,
    peek: (sha256) => files.get(sha256),
    load(appId, kept) {
      const key = `${appId} ${kept.sha256}`
      const own =
        loading.get(key) ??
        read(appId, kept).finally(() => {
          loading.delete(key)
        })
      loading.set(key, own)
      return own
    },
    get size() {
      return files.calculatedSize
    },
  }
}
