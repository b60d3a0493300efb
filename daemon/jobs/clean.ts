/** One line of text that may be stored and shown: it comes from a model, or from whoever imitates one. */
export function cleanText(text: string, most: number): string {
  const line = text
    .slice(0, 2 * most)
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
  return line.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')
}

/** A count that may be stored: 0 for an invalid one. */
export function cleanCount(count: number): number {
  return Number.isSafeInteger(count) && count >= 0 ? count : 0
}
