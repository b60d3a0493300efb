import type { RandomBytes } from '../engine/ports.ts'
import type { Instant } from '../time.ts'
import { toHex } from './bytes.ts'

const COUNTER_LIMIT = 0x1000

/**
 * Makes UUIDv7 generators: ids of one generator sort bytewise in the order they were made, also within
 * a millisecond and when the clock steps back.
 *
 * Source: RFC 9562, 5.7, with the 12 bits of rand_a as a counter (6.2, method 1).
 */
export function createUuid7(now: () => Instant, random: RandomBytes): () => string {
  let last = 0
  let counter = 0
  return () => {
    const at = Math.max(now(), last)
    counter = at === last ? counter + 1 : 0
    // A full counter borrows the next millisecond rather than repeat.
    last = counter < COUNTER_LIMIT ? at : at + 1
    counter %= COUNTER_LIMIT
    const time = last.toString(16).padStart(12, '0')
    const tail = random(8)
    tail[0] = ((tail[0] ?? 0) & 0x3f) | 0x80
    const rest = toHex(tail)
    const count = counter.toString(16).padStart(3, '0')
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${rest.slice(0, 4)}-${rest.slice(4)}`
  }
}
