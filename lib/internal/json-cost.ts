import { ARRAY_OPEN, COMMA, OBJECT_OPEN, QUOTE, isFollowedByColon, stringEnd } from './json-scan.ts'

/** Characters of a text that costs little to parse, whatever it holds. */
const ALWAYS_CHEAP = 65_536
/** The fewest arrays and objects, and different keys, that any text may have. */
const LEAST_BOUND = 16_384
/**
 * How many characters there must be for each array or object, by the number of different keys.
 *
 * `JSON.parse` takes 2 us for an object where there are thousands of different keys, and 0.2 us where
 * there are few: these bounds keep it below 50 ms per MiB.
 */
const DENSITIES: readonly { readonly keys: number; readonly charactersEach: number }[] = [
  { keys: Infinity, charactersEach: 64 },
  { keys: 1024, charactersEach: 16 },
  { keys: 64, charactersEach: 8 },
]
/** Characters for each different key. */
const CHARACTERS_PER_KEY = 64
/** Members and elements of a text. `JSON.parse` holds 24 bytes for each: 8 million fit into 16 MiB. */
const MAX_VALUES = 1_048_576

/** Whether parsing a text would block the process for long, or fill it. The text need not be JSON. */
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

/** Whether there are more different keys. */
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
