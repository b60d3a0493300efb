import type { Instant } from '../time.ts'
import { keyStatus } from './lifecycle.ts'
import type { KeyRecord } from './record.ts'

/**
 * How a key ended, by itself or with an ancestor: a key lives only while its whole chain does, and a
 * revocation anywhere comes before an expiry. Undefined while it lives.
 *
 * @param chain root first, the key itself last
 * @example
 * endOfChain([{ ...root, revoked_at: 1000 }, child], 2000) // 'revoked'
 */
export function endOfChain(
  chain: readonly KeyRecord[],
  now: Instant,
): 'revoked' | 'expired' | undefined {
  const ends = chain.map((link) => keyStatus(link, link.secrets, now))
  return (['revoked', 'expired'] as const).find((end) => ends.includes(end))
}
