import { ARRAY_OPEN, COMMA, OBJECT_OPEN, QUOTE, isFollowedByColon, stringEnd } from './json-scan.ts'

/** Characters; a text of at most this length is always cheap to parse. */
const ALWAYS_CHEAP = 65_536
/** Arrays and objects, and distinct keys, that are always allowed. */
const LEAST_BOUND = 16_384
/**
 * Required characters per array or object, by the number of distinct keys.
 *
 * `JSON.parse` takes 2 us per object with thousands of distinct keys, and 0.2 us with few. These limits
 * keep it below 50 ms per MiB.
 */
const DENSITIES: readonly { readonly keys: number; readonly charactersEach: number }[] = [
  { keys: Infinity, charactersEach: 64 },
  { keys: 1024, charactersEach: 16 },
  { keys: 64, charactersEach: 8 },
]
/** Required characters per distinct key. */
const CHARACTERS_PER_KEY = 64
/** Members and elements of a text. `JSON.parse` takes 24 bytes for each, and 16 MiB can hold 8 million. */
const MAX_VALUES = 1_048_576

/** Whether parsing a text would block the process for long or exhaust its memory. The text may not be JSON. */
export function isExpensive(text: string): boolean {
  if (text.length <= ALWAYS_CHEAP) return false
  const { containers, commas } = countIn(text)
  if (commas >= MAX_VALUES) return true
  const density = DENSITIES.find(
    ({ charactersEach }) => containers <= Math.max(LEAST_BOUND, text.length / charactersEach),
  )
  if (density === undefined) return true
  const maxKeys = Math.max(LEAST_BOUND, text.length / CHARACTERS_PER_KEY)
  return hasMoreKeys(text, Math.min(density.keys, maxKeys))
}

/** What stands outside of strings. */
function countIn(text: string): { readonly containers: number; readonly commas: number } {
  let containers = 0
  let commas = 0
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at)
    if (code === OBJECT_OPEN || code === ARRAY_OPEN) containers += 1
    else if (code === COMMA) commas += 1
    at = code === QUOTE ? stringEnd(text, at) : at + 1
  }
  return { containers, commas }
}

/** Whether a text has more than `limit` distinct keys. */
function hasMoreKeys(text: string, limit: number): boolean {
  const keys = new Set<string>()
  for (let open = text.indexOf('"'); open !== -1;) {
    const end = stringEnd(text, open)
    if (isFollowedByColon(text, end)) {
      keys.add(text.slice(open, end))
      if (keys.size > limit) return true
    }
    open = text.indexOf('"', end)
  }
  return false
}
