import { z } from 'zod'
import type { CacheHolder } from '../../../../lib/engine/key-caches.ts'
import { CacheLimitError } from '../../../../lib/engine/key-caches.ts'
import { kernelError } from '../../../../lib/errors.ts'
import type { Millis } from '../../../../lib/time.ts'
import { SECOND } from '../../../../lib/time.ts'
import type { Principal } from '../../../authority/principal.ts'
import { httpError } from '../../../operations/errors.ts'
import type { StreamEvent } from '../../../operations/operation.ts'
import { operation } from '../../../operations/operation.ts'
import type { Platform } from '../../../platform.ts'
import {
  EXAMPLE_CACHE_ID,
  cacheChange,
  cacheLease,
  cacheQuery,
  cacheRenewal,
  exampleLease,
} from '../cache-schema.ts'
import { keyError } from '../errors.ts'

/** Of a backend that caches verdicts: docs/key-caches.md. */
const CACHING = {
  access: { scope: 'keys:read', pinned: 'refused', service: true },
  agent: { omit: 'Called by a program, every second.' },
  emits: ['keys'],
} as const

/** The operator without an account caches keys of every account, anybody else those of one. */
export function cacheHolderOf(principal: Principal, id: string): CacheHolder {
  return { account_id: principal.account_id, id }
}

export const renewCache = operation({
  ...CACHING,
  effect: 'read',
  id: 'keys.renew_cache',
  summary: 'Open a cache of verdicts, or renew its lease and learn what to drop',
  method: 'POST',
  path: '/v1/keys/caches',
  input: { body: cacheRenewal },
  output: cacheLease,
  errors: ['key_cache_limit_reached', 'capability_unavailable', 'unavailable'],
  example: { body: { cache_id: EXAMPLE_CACHE_ID, applied: null }, response: exampleLease },
  async run({ platform, principal, body }) {
    requireServed(platform, principal)
    const renewal = await attempt(platform, cacheHolderOf(principal, body.cache_id), body.applied)
    if (renewal === undefined) throw kernelError('unavailable', { internal: 'no lease is held' })
    const { lease, ...others } = renewal
    return { ...others, changes: [...renewal.changes], lease_ms: lease }
  },
})

/**
 * Processes that share a store acknowledge changes one after the other, so that the silence of one account's cache
 * would hold up the changes of all: there the operator alone has caches.
 */
function requireServed({ store }: Pick<Platform, 'store'>, { type }: Principal): void {
  if (store.manyProcesses === true && type !== 'operator') throw httpError('capability_unavailable')
}

async function attempt(
  { keyCaches }: Pick<Platform, 'keyCaches'>,
  holder: CacheHolder,
  applied: string | null,
) {
  try {
    return await keyCaches.renew(holder, applied)
  } catch (cause) {
    throw cause instanceof CacheLimitError ? keyError('key_cache_limit_reached') : cause
  }
}

export const endCache = operation({
  ...CACHING,
  effect: 'read',
  id: 'keys.end_cache',
  summary: 'End the lease of a cache, so that no change waits for it',
  method: 'DELETE',
  path: '/v1/keys/caches',
  input: { query: cacheQuery },
  output: z.strictObject({}),
  errors: [],
  example: { query: { cache_id: EXAMPLE_CACHE_ID }, response: {} },
  run({ platform, principal, query }) {
    platform.keyCaches.end(cacheHolderOf(principal, query.cache_id))
    return Promise.resolve({})
  },
})

export const followCache = operation({
  ...CACHING,
  effect: 'stream',
  id: 'keys.follow_cache',
  summary: 'Follow the changes that a cache must apply, as server-sent events',
  method: 'GET',
  path: '/v1/keys/caches',
  input: { query: cacheQuery },
  output: cacheChange,
  errors: [],
  example: {
    query: { cache_id: EXAMPLE_CACHE_ID },
    response: { position: '01890a5d-ac96-774b-bcce-b302099a8057.1' },
  },
  run: ({ platform, principal, query, left }) =>
    Promise.resolve(streamChanges(platform, cacheHolderOf(principal, query.cache_id), left)),
})

/** Interval of looking whether the lease has ended. */
const LOOK_EVERY: Millis = SECOND

async function* streamChanges(
  { keyCaches, clock }: Pick<Platform, 'keyCaches' | 'clock'>,
  holder: CacheHolder,
  left: AbortSignal,
): AsyncGenerator<StreamEvent<z.input<typeof cacheChange>>> {
  let look = (): void => undefined
  const unfollow = keyCaches.follow(holder, () => {
    look()
  })
  left.addEventListener('abort', () => {
    look()
  })
  try {
    let sent = keyCaches.position(holder)
    while (!left.aborted) {
      const position = keyCaches.position(holder)
      if (position === undefined) {
        yield { event: 'end', data: { position: null } }
        return
      }
      if (position !== sent) yield { event: 'changed', data: { position } }
      sent = position
      await new Promise<void>((resolve) => {
        const cancel = clock.after(LOOK_EVERY, resolve, 'background')
        look = () => {
          cancel()
          resolve()
        }
        if (keyCaches.position(holder) !== sent || left.aborted) look()
      })
    }
  } finally {
    unfollow()
  }
}
