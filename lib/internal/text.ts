/**
 * Cuts a text to at most `max` UTF-16 units and an ellipsis, without splitting a surrogate pair.
 *
 * @example
 * cutText('abcdef', 3) // 'abc…'
 */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  const isPairCut = (text.codePointAt(max - 1) ?? 0) > 0xffff
  return `${text.slice(0, isPairCut ? max - 1 : max)}…`
}
