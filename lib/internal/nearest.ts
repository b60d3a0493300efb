/** Text this long is never a misspelt name: comparing it would cost and tell nothing. */
const LONGEST = 65

/**
 * The candidate that a misspelt word was most likely meant to be: at most a third of its characters
 * differ, and a swap of two neighbours is one difference. Undefined when none is near; of equals the first.
 *
 * @example
 * nearest('ordrs:read', ['apps:read', 'orders:read']) // 'orders:read'
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const differences = distance(word, candidate)
    if (differences < least) [best, least] = [candidate, differences]
  }
  return best
}

/** ` Did you mean "…"?` for a message that a misspelt word is refused with; empty when none is near. */
export function suggest(word: string, candidates: Iterable<string>): string {
  const found = nearest(word, candidates)
  return found === undefined ? '' : ` Did you mean ${JSON.stringify(found)}?`
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function distance(a: string, b: string): number {
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (isSame ? 0 : 1),
          isSwap ? (before[j - 2] ?? 0) + 1 : Infinity,
        ),
      )
    }
    ;[before, row] = [row, next]
  }
  return row[b.length] ?? 0
}
