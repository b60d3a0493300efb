import { rest } from '../../fleet/steady.ts'
import type { Proxy } from '../../support/proxy.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'

/** Of what is slow now and then, so much is on the way each time. */
const SHARE = 8

/**
 * Lets the path from one daemon after the other to its database be slow, or held, until it is stopped:
 * always shorter than a daemon may go by what it keeps.
 *
 * @param longest that anything is held, in milliseconds
 */
export async function lag(
  proxies: readonly Proxy[],
  { random, longest, isStopped }: { random: SeededRandom; longest: number; isStopped(): boolean },
): Promise<void> {
  while (!isStopped()) {
    const proxy = random.pickAny(proxies)
    if (proxy === undefined || longest === 0) return
    if (random.oneIn(2)) proxy.delay(1 + random.below(longest / SHARE))
    else proxy.hold('back')
    await rest(random.below(longest))
    proxy.resume()
    await rest(random.below(longest))
  }
}
