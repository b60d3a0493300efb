type Rule = readonly [pattern: RegExp, replacement: string]

/** The rest of an address after its path, up to the line and column that follow it in a stack. */
const UP_TO_POSITION = String.raw`[^\s"'<>()]*?(?=(?::\d+){0,2}(?:[\s"'<>(),]|$))`

/**
 * Applied in order: a later rule does not see what an earlier one replaced.
 *
 * Each rule matches or gives up after a bounded number of characters: otherwise a text in which every word can
 * begin a match would be read again from each word.
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
  // Names given by people are in one case, or have no digits.
  [/(?<![\w+=-])(?=[\w+=-]*\d)(?=[\w+=-]*[a-z])(?=[\w+=-]*[A-Z])[\w+=-]{24,}/g, '[token]'],
  [/\b(?=[a-z]*\d)[0-9a-z]{24,}\b/g, '[token]'],
  [/\d(?:[ -]?\d){7,}/g, '[number]'],
]

/**
 * A text of a visitor's browser without data of the visitor: queries of addresses, e-mail addresses, text that
 * looks like a token, and numbers of eight digits or more.
 *
 * @example
 * redact('no account for zoe@example.com') // 'no account for [email]'
 */
export function redact(text: string): string {
  let left = text
  for (const [pattern, replacement] of RULES) left = left.replaceAll(pattern, replacement)
  return left
}

/** Replaces NUL and lone surrogates, which PostgreSQL refuses. */
export function wellFormed(text: string, most: number): string {
  return text.slice(0, most).replaceAll(/[\0\p{Surrogate}]/gu, '\uFFFD')
}

/** The beginning of a text without its last word, which may be cut so that no rule recognizes it. */
export function beginningOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/(?<!\S)\S*$/, '')
}
