import type { AppBytes, Kept } from '../../plugins/apps/contract.ts'
import { LruCache } from '../../lib/internal/lru-cache.ts'

/** In-memory cache of small requested files. */
export interface HotFiles {
  /** Whether a file of that size is cached. */
  takes(size: number): boolean
  /** The cached file. */
  peek(sha256: string): Buffer | undefined
  /**
   * Reads a file once for all concurrent requests, and caches it.
   *
   * @throws Error when it is missing or differs from the manifest; errors of the read
   */
  load(appId: string, kept: Kept): Promise<Buffer>
  /** Cached bytes. */
  readonly size: number
}

export interface HotLimits {
  /** Maximum bytes of a file. */
  readonly file: number
  /** Maximum bytes in all. */
  readonly total: number
}

const LIMITS: HotLimits = { file: 64 * 1024, total: 64 * 1024 * 1024 }

/** Overhead per entry, so that the number of empty files is limited too. */
const OVERHEAD = 512

/**
 * A least-recently-used cache by digest: the content of a digest never changes, so entries are never stale.
 */
export function createHotFiles(bytes: Pick<AppBytes, 'get'>, limits: HotLimits = LIMITS): HotFiles {
  const files = new LruCache<Buffer>({
    maxSize: limits.total,
    sizeOf: ({ length }) => length + OVERHEAD,
  })
  const loading = new Map<string, Promise<Buffer>>()

  async function read(appId: string, kept: Kept): Promise<Buffer> {
    const found = await bytes.get(appId, kept.sha256)
    if (found?.length !== kept.size) throw new Error(`${kept.sha256} is not whole`)
    // A copy, because the given buffer may be a small part of a large one.
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
      return files.size
    },
  }
}
