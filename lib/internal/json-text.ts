/**
 * Positions of parts in a JSON text, so that a part can be copied verbatim. Serializing it again would
 * reorder integer-like keys and round long numbers.
 *
 * The text must be valid JSON; for any other text the results are undefined.
 *
 * @module
 */
import {
  ARRAY_CLOSE,
  ARRAY_OPEN,
  BACKSLASH,
  COMMA,
  OBJECT_CLOSE,
  OBJECT_OPEN,
  QUOTE,
} from './json-scan.ts'

/** A part of a text, end exclusive. */
export interface Span {
  readonly from: number
  readonly to: number
}

const LAST_SPACE = 0x20

function skipSpace(text: string, at: number): number {
  let here = at
  while (text.charCodeAt(here) <= LAST_SPACE) here++
  return here
}

/** The index after the string that begins at `at`. */
function skipString(text: string, at: number): number {
  let here = at + 1
  for (;;) {
    const quote = text.indexOf('"', here)
    let slashes = 0
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return quote + 1
    here = quote + 1
  }
}

function skipComposite(text: string, at: number): number {
  let depth = 0
  let here = at
  do {
    const code = text.charCodeAt(here)
    if (code === QUOTE) {
      here = skipString(text, here)
      continue
    }
    if (code === OBJECT_OPEN || code === ARRAY_OPEN) depth++
    else if (code === OBJECT_CLOSE || code === ARRAY_CLOSE) depth--
    here++
  } while (depth > 0 && here < text.length)
  return here
}

function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return skipString(text, at)
  if (first === OBJECT_OPEN || first === ARRAY_OPEN) return skipComposite(text, at)
  let here = at
  while (here < text.length && !endsScalar(text.charCodeAt(here))) here++
  return here
}

function endsScalar(code: number): boolean {
  return code === COMMA || code === ARRAY_CLOSE || code === OBJECT_CLOSE || code <= LAST_SPACE
}

/**
 * The value of the member `name` of the object that begins at `at`; of duplicate members the last one, as
 * in JSON.parse.
 *
 * @example
 * memberSpan('{"a":1,"b":[2]}', 0, 'b') // { from: 11, to: 14 }
 */
export function memberSpan(text: string, at: number, name: string): Span | undefined {
  let found: Span | undefined
  let here = skipSpace(text, skipSpace(text, at) + 1)
  while (text.charCodeAt(here) === QUOTE) {
    const keyEnd = skipString(text, here)
    const key = text.slice(here, keyEnd)
    const from = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const to = skipValue(text, from)
    if (isKey(key, name)) found = { from, to }
    here = skipSpace(text, to)
    if (text.charCodeAt(here) === COMMA) here = skipSpace(text, here + 1)
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
  while (here < text.length && text.charCodeAt(here) !== ARRAY_CLOSE) {
    const to = skipValue(text, here)
    spans.push({ from: here, to })
    here = skipSpace(text, to)
    if (text.charCodeAt(here) === COMMA) here = skipSpace(text, here + 1)
  }
  return spans
}
