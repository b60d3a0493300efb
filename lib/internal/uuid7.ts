import type { RandomBytes } from '../engine/ports.ts'
import type { Instant } from '../time.ts'
import { toHex } from './bytes.ts'

const COUNTER_LIMIT = 0x1000

/**
 * Creates a generator of UUIDv7 (RFC 9562, 5.7, with the 12 bits of rand_a as a counter, 6.2 method 1).
 *
 * Ids of one generator sort bytewise in the order of creation, also within one millisecond and when the
 * clock steps back.
 */
export function createUuid7(now: () => Instant, random: RandomBytes): () => string {
  let last = 0
  let counter = 0
  return () => {
    const at = Math.max(now(), last)
    counter = at === last ? counter + 1 : 0
    // A full counter uses the next millisecond, so that no id repeats.
    last = counter < COUNTER_LIMIT ? at : at + 1
    counter %= COUNTER_LIMIT
    return printUuid7(last, counter, random(8))
  }
}

/**
 * A deterministic id: the same instant and bytes give the same id.
 *
 * @param bytes at least 8, such as of a hash
 */
export function uuid7Of(at: Instant, bytes: Uint8Array): string {
  return printUuid7(at, 0, bytes.slice(0, 8))
}

/** A lower bound: it sorts before every id of this instant or later, and after every earlier one. */
export function uuid7Floor(at: Instant): string {
  return printUuid7(at, 0, new Uint8Array(8))
}

function printUuid7(at: Instant, counter: number, tail: Uint8Array): string {
  const count = counter.toString(16).padStart(3, '0')
  tail[0] = ((tail[0] ?? 0) & 0x3f) | 0x80
  const rest = toHex(tail)
  return `${printTime(at)}-7${count}-${rest.slice(0, 4)}-${rest.slice(4)}`
}

/** Cached: many ids are created within one millisecond. */
let last = { at: -1, text: '' }

function printTime(at: Instant): string {
  if (at !== last.at) {
    const time = at.toString(16).padStart(12, '0')
    last = { at, text: `${time.slice(0, 8)}-${time.slice(8)}` }
  }
  return last.text
}
