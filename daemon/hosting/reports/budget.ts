import type { Clock } from '../../../lib/engine/ports.ts'
import { createBuckets } from '../../buckets.ts'

/** Spenders that are remembered; beyond that, those that spent least are forgotten first. */
const MOST = 20_000

/** So much a minute for each spender; what is not spent is saved up to that. */
export interface Budget {
  /** False when nothing is left. */
  spend(spender: string): boolean
}

export function createBudget(
  perMinute: number,
  clock: Pick<Clock, 'steady'>,
  most: number = MOST,
): Budget {
  const buckets = createBuckets(most)
  return {
    spend(spender) {
      const bucket = buckets.find(spender, perMinute, clock.steady())
      if (bucket.left < 1) return false
      bucket.left -= 1
      return true
    },
  }
}
