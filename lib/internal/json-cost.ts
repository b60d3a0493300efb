import {
  ARRAY_CLOSE,
  ARRAY_OPEN,
  COLON,
  COMMA,
  OBJECT_CLOSE,
  OBJECT_OPEN,
  QUOTE,
  isFollowedByColon,
  stringEnd,
} from './json-scan.ts'

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

/** What stands outside of the strings of a text. */
export interface Counts {
  readonly containers: number
  readonly commas: number
  readonly colons: number
}

/** Counts what stands outside of strings, in one pass; undefined when it nests deeper than `maxDepth`. */
export function countIn(text: string, maxDepth: number): Counts | undefined {
  let containers = 0
  let commas = 0
  let colons = 0
  let depth = 0
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = stringEnd(text, at)
      continue
    }
    if (code === OBJECT_OPEN || code === ARRAY_OPEN) {
      containers += 1
      depth += 1
      if (depth > maxDepth) return undefined
    } else if (code === OBJECT_CLOSE || code === ARRAY_CLOSE) depth -= 1
    else if (code === COMMA) commas += 1
    else if (code === COLON) colons += 1
    at += 1
  }
  return { containers, commas, colons }
}

/** Whether a text may be expensive to parse, by its length alone. */
export function isLong(text: string): boolean {
  return text.length > ALWAYS_CHEAP
}

/** Whether parsing a long text would block the process for long or exhaust its memory. It may not be JSON. */
export function isExpensive(text: string, { containers, commas, colons }: Counts): boolean {
  if (commas >= MAX_VALUES) return true
  const density = DENSITIES.find(
    ({ charactersEach }) => containers <= Math.max(LEAST_BOUND, text.length / charactersEach),
  )
  if (density === undefined) return true
  const maxKeys = Math.min(density.keys, Math.max(LEAST_BOUND, text.length / CHARACTERS_PER_KEY))
  // Each key has its colon: mostly they need not be told apart.
  return colons > maxKeys && hasMoreKeys(text, maxKeys)
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
