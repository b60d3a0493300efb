import { createKeyCaches } from '../../lib/engine/key-caches.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { Machine, RememberedCaches } from '../platform.ts'

/** Present once a cache outside of the daemon has held a lease. */
const META_NAME = 'key_caches'

/**
 * Opens the leases of caches outside of this process. They are kept in memory: what processes share a store learn of
 * by its own leases, and a store of one process by this mark, with which a start waits for what an earlier process
 * may have granted.
 */
export async function openKeyCaches(
  store: PlatformStore,
  { clock, newId }: Pick<Machine, 'clock' | 'newId'>,
): Promise<RememberedCaches> {
  let isRemembered = (await store.accounts.meta(META_NAME)) !== undefined
  const caches = createKeyCaches({
    changes: store.changes,
    clock,
    newId,
    mayHaveHolders: isRemembered && store.manyProcesses !== true,
  })
  return {
    ...caches,
    async renew(holder, applied) {
      if (!isRemembered) await store.write((tx) => tx.accounts.putMetaOnce(META_NAME, 'used'))
      isRemembered = true
      return caches.renew(holder, applied)
    },
  }
}
