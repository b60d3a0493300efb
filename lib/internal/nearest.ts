/** Characters; a longer text is not compared, since it is no misspelt name. */
const LONGEST = 65
/** With more differences it is a different name. They also bound the cost of a comparison. */
const MOST_DIFFERENCES = 4
/** Number of words of one list that get a suggestion. */
const MOST_WORDS = 5

/**
 * The candidate nearest to a misspelt word: at most four of its characters differ, and at most a third; a
 * swap of two neighbours is one difference. Undefined when none is near; of equal candidates the first.
 *
 * @example
 * nearest('ordrs:read', ['apps:read', 'orders:read']) // 'orders:read'
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined
  let best: string | undefined
  let limit = Math.min(MOST_DIFFERENCES, Math.max(1, Math.floor(word.length / 3))) + 1
  const rows = createRows()
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= limit) continue
    const differences = distance(word, candidate, limit, rows)
    if (differences < limit) [best, limit] = [candidate, differences]
  }
  return best
}

/** The suffix ` Did you mean "…"?` for an error message; empty when no candidate is near. */
export function suggest(word: string, candidates: Iterable<string>): string {
  const found = nearest(word, candidates)
  return found === undefined ? '' : ` Did you mean ${JSON.stringify(found)}?`
}

/**
 * Suggests for the first words of a list. The number is bounded, since every word is compared with every
 * candidate and callers may choose both.
 */
export function suggestEach(candidates: Iterable<string>): (word: string) => string {
  let left = MOST_WORDS
  return (word) => (left-- > 0 ? suggest(word, candidates) : '')
}

/** Three rows of the distance table: of the character before the previous, the previous, and the current. */
type Rows = readonly [Uint8Array, Uint8Array, Uint8Array]

function createRows(): Rows {
  const row = (): Uint8Array => new Uint8Array(LONGEST + MOST_DIFFERENCES + 2)
  return [row(), row(), row()]
}

/** Greater than any limit. */
const FAR = 100

/**
 * Counts insertions, deletions, replacements and swaps of neighbours (optimal string alignment), up to
 * `limit`. It visits only cells that fewer differences can reach.
 */
function distance(a: string, b: string, limit: number, rows: Rows): number {
  let [before, row, next] = rows
  for (let j = 0; j <= limit; j += 1) row[j] = j
  let leastBefore = 0
  for (let i = 1; i <= a.length; i += 1) {
    const first = Math.max(1, i - limit + 1)
    const last = Math.min(b.length, i + limit - 1)
    const char = a.charCodeAt(i - 1)
    const previous = i > 1 ? a.charCodeAt(i - 2) : NaN
    let left = first === 1 ? i : FAR
    next[first - 1] = left
    let least = left
    for (let j = first; j <= last; j += 1) {
      const other = b.charCodeAt(j - 1)
      const replaced = (row[j - 1] ?? FAR) + (char === other ? 0 : 1)
      left = Math.min(left + 1, (row[j] ?? FAR) + 1, replaced)
      if (j > 1 && char === b.charCodeAt(j - 2) && previous === other) {
        left = Math.min(left, (before[j - 2] ?? FAR) + 1)
      }
      next[j] = left
      least = Math.min(least, left)
    }
    next[last + 1] = FAR
    // The next row derives from this one or, by a swap, from the one before.
    if (Math.min(least, leastBefore + 1) >= limit) return limit
    leastBefore = least
    ;[before, row, next] = [row, next, before]
  }
  return row[b.length] ?? limit
}
