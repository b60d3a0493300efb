/**
 * Cuts a text to at most `max` UTF-16 units and an ellipsis. No surrogate pair is cut in two, so that
 * what was valid Unicode stays so.
 *
 * @example
 * cutText('abcdef', 3) // 'abc…'
 */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  const isPairCut = (text.codePointAt(max - 1) ?? 0) > 0xffff
  return `${text.slice(0, isPairCut ? max - 1 : max)}…`
}
