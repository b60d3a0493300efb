/**
 * Where the parts of a JSON text stand, so that a part can be kept to the byte instead of being
 * printed anew: printing reorders integer-like keys and rounds long numbers.
 *
 * The text must be valid JSON already; on anything else the answers mean nothing.
 *
 * @module
 */

/** A part of a text, end exclusive. */
export interface Span {
  readonly from: number
  readonly to: number
}

const SPACE = /[ \t\n\r]/

function skipSpace(text: string, at: number): number {
  let here = at
  while (SPACE.test(text.charAt(here))) here++
  return here
}

/** The index after the string that opens at `at`. */
function skipString(text: string, at: number): number {
  let here = at + 1
  for (;;) {
    const quote = text.indexOf('"', here)
    let slashes = 0
    while (text.charAt(quote - 1 - slashes) === '\\') slashes++
    if (slashes % 2 === 0) return quote + 1
    here = quote + 1
  }
}

/** What can end or open something inside a composite; all else is passed over at once. */
const MARK = /["{}[\]]/g

function skipComposite(text: string, at: number): number {
  let depth = 0
  let here = at
  do {
    MARK.lastIndex = here
    const mark = MARK.exec(text)
    if (mark === null) return text.length
    here = mark[0] === '"' ? skipString(text, mark.index) : mark.index + 1
    if (mark[0] === '{' || mark[0] === '[') depth++
    else if (mark[0] !== '"') depth--
  } while (depth > 0)
  return here
}

function skipValue(text: string, at: number): number {
  const first = text.charAt(at)
  if (first === '"') return skipString(text, at)
  if (first === '{' || first === '[') return skipComposite(text, at)
  let here = at
  while (here < text.length && !/[,\]} \t\n\r]/.test(text.charAt(here))) here++
  return here
}

/**
 * The value of the member `name` of the object that begins at `at`; the last one where it stands more
 * than once, as JSON.parse has it.
 *
 * @example
 * memberSpan('{"a":1,"b":[2]}', 0, 'b') // { from: 11, to: 14 }
 */
export function memberSpan(text: string, at: number, name: string): Span | undefined {
  let found: Span | undefined
  let here = skipSpace(text, skipSpace(text, at) + 1)
  while (text.charAt(here) === '"') {
    const keyEnd = skipString(text, here)
    const key = text.slice(here, keyEnd)
    const from = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const to = skipValue(text, from)
    if (isKey(key, name)) found = { from, to }
    here = skipSpace(text, to)
    if (text.charAt(here) === ',') here = skipSpace(text, here + 1)
  }
  return found
}

function isKey(literal: string, name: string): boolean {
  return literal === `"${name}"` || (literal.includes('\\') && JSON.parse(literal) === name)
}

/** The elements of the array that begins at `at`. */
export function elementSpans(text: string, at: number): readonly Span[] {
  const spans: Span[] = []
  let here = skipSpace(text, skipSpace(text, at) + 1)
  while (here < text.length && text.charAt(here) !== ']') {
    const to = skipValue(text, here)
    spans.push({ from: here, to })
    here = skipSpace(text, to)
    if (text.charAt(here) === ',') here = skipSpace(text, here + 1)
  }
  return spans
}
