import { z } from 'zod'
import { DRIFT, LEASE } from '../../../lib/engine/lease.ts'

export const cacheId = z.uuid().meta({
  description: 'Chosen by you at random; never the same for two caches.',
})

const position = z.string().max(60).meta({
  description: 'State of the changes, opaque: compare it for equality alone.',
})

export const cacheRenewal = z.strictObject({
  cache_id: cacheId,
  applied: position.nullable().meta({
    description: 'Last position whose changes you have applied; null while the cache is empty.',
  }),
})

export const cacheLease = z
  .strictObject({
    position,
    reset: z.boolean().meta({ description: 'Drop everything that is cached.' }),
    changes: z
      .array(
        z.strictObject({
          kind: z.enum(['key', 'account']),
          id: z.string().meta({ description: 'Drop what depends on this key or account.' }),
        }),
      )
      .meta({
        description: 'Changes that you have not acknowledged. Apply them before the lease.',
      }),
    lease_ms: z.int().meta({
      description: `How long the cache may be used, from before you sent the request: at most ${LEASE - DRIFT}.`,
    }),
  })
  .meta({ id: 'KeyCacheLease' })

/** How long a verdict may be cached, under the lease of its cache. */
export const cacheable = z
  .strictObject({
    position: position.meta({
      description: 'Cache the verdict only while this is the last position that you have applied.',
    }),
    depends_on: z
      .array(z.string())
      .meta({ description: 'Its account, its key, and all keys above that key.' }),
    expires_in_ms: z.int().nullable().meta({
      description: 'Maximum time, from before you sent the request; null for none.',
    }),
  })
  .meta({ id: 'CacheableVerdict' })

export const cacheQuery = z.strictObject({ cache_id: cacheId })

export const cacheChange = z.strictObject({
  position: position.nullable().meta({ description: 'Null once the lease has ended.' }),
})

export const EXAMPLE_CACHE_ID = '6b1f2c0e-5d1c-4a41-9a55-3b9f3c8a1d70'

export const exampleLease = {
  position: '01890a5d-ac96-774b-bcce-b302099a8057.0',
  reset: true,
  changes: [],
  lease_ms: 1960,
}
