import type { Clock } from '../../../lib/engine/ports.ts'
import type { Millis } from '../../../lib/time.ts'
import { MINUTE } from '../../../lib/time.ts'

interface Bucket {
  left: number
  at: Millis
}

/** Beyond so many within a minute, whoever is new is refused. */
const MOST = 20_000

/** So much a minute for each of those who spend; what is not spent is saved up to that. */
export interface Budget {
  /** False when nothing is left. */
  spend(spender: string): boolean
}

export function createBudget(
  perMinute: number,
  clock: Pick<Clock, 'steady'>,
  most: number = MOST,
): Budget {
  // Who spent nothing for a minute has a full bucket, and is forgotten with the older half.
  let young = new Map<string, Bucket>()
  let old = new Map<string, Bucket>()
  let turned = clock.steady()

  function turn(now: Millis): void {
    if (now - turned < MINUTE) return
    old = now - turned < 2 * MINUTE ? young : new Map()
    young = new Map()
    turned = now
  }

  return {
    spend(spender) {
      const now = clock.steady()
      turn(now)
      const known = young.get(spender) ?? old.get(spender)
      if (known === undefined && young.size >= most) return false
      const bucket = known ?? { left: perMinute, at: now }
      young.set(spender, bucket)
      bucket.left = Math.min(perMinute, bucket.left + ((now - bucket.at) * perMinute) / MINUTE)
      bucket.at = now
      if (bucket.left < 1) return false
      bucket.left -= 1
      return true
    },
  }
}
