type Rule = readonly [pattern: RegExp, replacement: string]

/** What follows the path of an address, but for the line and column that stand behind it in a stack. */
const UP_TO_POSITION = String.raw`[^\s"'<>()]*?(?=(?::\d+){0,2}(?:[\s"'<>(),]|$))`

/**
 * In their order: what an earlier one replaced is no longer there for a later one.
 *
 * What one of them began to read it either takes or gives up after a bounded way: a text in which each
 * word could begin a match that its end refuses would otherwise be read again from each of them.
 */
const RULES: readonly Rule[] = [
  [new RegExp(String.raw`(\bhttps?://[^\s?#"'<>()]*)(?:[?#]${UP_TO_POSITION})?`, 'g'), '$1'],
  [new RegExp(String.raw`\?[\w.~%-]{1,64}=${UP_TO_POSITION}`, 'g'), ''],
  [/[\p{L}\p{N}._+%-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,63}/gu, '[email]'],
  [/\b(bearer\s+)[\w.~+/=-]{8,}/gi, '$1[token]'],
  [
    /\b(password|passwd|secret|token|authorization|api[_-]?key)(["']?\s*[:=]\s*["']?)[^\s"',;&)]{4,}/gi,
    '$1$2[token]',
  ],
  [/\beyJ[\w-]+(?:\.[\w-]*){0,2}/g, '[token]'],
  // Names that people give things are in one case, or without digits.
  [/(?<![\w+=-])(?=[\w+=-]*\d)(?=[\w+=-]*[a-z])(?=[\w+=-]*[A-Z])[\w+=-]{24,}/g, '[token]'],
  [/\b(?=[a-z]*\d)[0-9a-z]{24,}\b/g, '[token]'],
  [/\d(?:[ -]?\d){7,}/g, '[number]'],
]

/**
 * A text of a visitor's browser without what may tell of the visitor: queries of addresses, e-mail
 * addresses, what looks like a token, and numbers of eight digits or more.
 *
 * @example
 * redact('no account for zoe@example.com') // 'no account for [email]'
 */
export function redact(text: string): string {
  let left = text
  for (const [pattern, replacement] of RULES) left = left.replaceAll(pattern, replacement)
  return left
}

/** No text that is kept holds a NUL or half a character, and PostgreSQL takes neither. */
export function wellFormed(text: string, most: number): string {
  return text.slice(0, most).replaceAll(/[\0\p{Surrogate}]/gu, '\uFFFD')
}

/** The beginning of a text without its last word, which may be cut where nobody would know it any more. */
export function beginningOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/(?<!\S)\S*$/, '')
}
