/** Text this long is never a misspelt name: comparing it would cost and tell nothing. */
const LONGEST = 65
/** More differences are another name. The cost of a comparison grows with them. */
const MOST_DIFFERENCES = 4
/** Words of one list that are compared with the candidates. */
const MOST_WORDS = 5

/**
 * The candidate that a misspelt word was most likely meant to be: at most four of its characters differ,
 * and at most a third; a swap of two neighbours is one difference. Undefined when none is near; of equals
 * the first.
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

/** ` Did you mean "…"?` for a message that a misspelt word is refused with; empty when none is near. */
export function suggest(word: string, candidates: Iterable<string>): string {
  const found = nearest(word, candidates)
  return found === undefined ? '' : ` Did you mean ${JSON.stringify(found)}?`
}

/**
 * Suggests for a list of words. Every word is compared with every candidate, and callers may choose both:
 * so only the first few words get a suggestion.
 */
export function suggestEach(candidates: Iterable<string>): (word: string) => string {
  let left = MOST_WORDS
  return (word) => (left-- > 0 ? suggest(word, candidates) : '')
}

/** Three rows of the table of distances: of the character before the last, the last, and the current one. */
type Rows = readonly [Uint8Array, Uint8Array, Uint8Array]

function createRows(): Rows {
  const row = (): Uint8Array => new Uint8Array(LONGEST + MOST_DIFFERENCES + 2)
  return [row(), row(), row()]
}

/** More than any limit. */
const FAR = 100

/**
 * Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). From `limit` on
 * they are not counted: only cells that fewer differences can lead to are visited.
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
    // The row that follows is made of this one, and by a swap of the one before.
    if (Math.min(least, leastBefore + 1) >= limit) return limit
    leastBefore = least
    ;[before, row, next] = [row, next, before]
  }
  return row[b.length] ?? limit
}
