const MOST_LINES = 60
const AROUND = 8

/** The text around the places that a search could mean, or around the line most like one of it. */
export function excerptOf(text: string, search: string, places: readonly number[]): string {
  const lines = text.split('\n')
  if (lines.length <= MOST_LINES) return text
  const length = search.split('\n').length
  const starts = places.length > 0 ? places : [likeliest(lines, search.split('\n'))]
  const shown = new Set<number>()
  for (const start of starts) {
    const [from, to] = [Math.max(0, start - AROUND), start + length + AROUND]
    for (let line = from; line < Math.min(to, lines.length); line += 1) {
      if (shown.size < MOST_LINES) shown.add(line)
    }
  }
  const parts: string[] = []
  let last = -1
  for (const line of shown) {
    if (parts.length > 0 && line !== last + 1) parts.push('[…]')
    parts.push(lines[line] ?? '')
    last = line
  }
  return parts.join('\n')
}

/** Where the search would begin if its longest line that the text has were the right one. */
function likeliest(lines: readonly string[], searched: readonly string[]): number {
  const byLength = searched
    .map((line, index) => ({ line: line.trim(), index }))
    .filter(({ line }) => line !== '')
    .sort((a, b) => b.line.length - a.line.length)
  for (const { line, index } of byLength) {
    const at = lines.findIndex((one) => one.trim() === line)
    if (at >= 0) return Math.max(0, at - index)
  }
  return 0
}
