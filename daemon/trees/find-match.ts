import type { Steps } from '../queues/steps.ts'
import { STEP_BYTES } from '../queues/steps.ts'

/**
 * Finds the offset at which bytes occur once in others, in time that is linear in their lengths (Knuth,
 * Morris, Pratt). `indexOf` takes the product of the lengths for repetitive input, and the caller chooses
 * both. In valid UTF-8, bytes match exactly where the text does.
 */
export function* findMatch(
  search: Uint8Array,
  bytes: Uint8Array,
): Steps<number | 'no_match' | 'many_matches'> {
  if (search.length === 0 || search.length > bytes.length) return 'no_match'
  const borders = yield* bordersOf(search)
  const [first] = search
  let found: number | 'no_match' = 'no_match'
  let matched = 0
  for (let from = 0; from < bytes.length; from += STEP_BYTES) {
    const end = Math.min(from + STEP_BYTES, bytes.length)
    for (let at = from; at < end; at += 1) {
      // Most bytes begin no match: skipping them takes a third of the time of the code below.
      while (matched === 0 && at < end && bytes[at] !== first) at += 1
      if (at === end) break
      const byte = bytes[at]
      while (matched > 0 && search[matched] !== byte) matched = borders[matched - 1] ?? 0
      if (search[matched] === byte) matched += 1
      if (matched < search.length) continue
      if (found !== 'no_match') return 'many_matches'
      found = at - matched + 1
      matched = borders[matched - 1] ?? 0
    }
    yield
  }
  return found
}

/** For each prefix, the length of the longest shorter prefix that it ends with. */
function* bordersOf(search: Uint8Array): Steps<Int32Array> {
  const borders = new Int32Array(search.length)
  let length = 0
  for (let from = 1; from < search.length; from += STEP_BYTES) {
    const end = Math.min(from + STEP_BYTES, search.length)
    for (let at = from; at < end; at += 1) {
      const byte = search[at]
      while (length > 0 && search[length] !== byte) length = borders[length - 1] ?? 0
      if (search[length] === byte) length += 1
      borders[at] = length
    }
    if (end < search.length) yield
  }
  return borders
}
