import { countIn, isExpensive, isLong } from './json-cost.ts'
import {
  ARRAY_CLOSE,
  ARRAY_OPEN,
  COMMA,
  OBJECT_CLOSE,
  OBJECT_OPEN,
  QUOTE,
  isFollowedByColon,
  stringEnd,
} from './json-scan.ts'
import { cutText } from './text.ts'

export type JsonErrorCode =
  | 'invalid_json'
  | 'json_too_deep'
  | 'json_too_complex'
  | 'json_forbidden_key'
  | 'json_nul'
  | 'json_lone_surrogate'

const TEXTS: Readonly<Record<JsonErrorCode, string>> = {
  invalid_json: 'The text is not JSON.',
  json_too_deep: 'Arrays and objects are nested too deeply.',
  json_too_complex:
    'There are too many different keys or objects for the size of the text, or more than 1,048,576 values.',
  json_forbidden_key: 'The key __proto__ is not allowed.',
  json_nul: 'Strings must not contain the character U+0000.',
  json_lone_surrogate: 'Strings must be valid Unicode; this one contains half of a surrogate pair.',
}

/**
 * A refused JSON text.
 *
 * `path` is the location, such as `data.items[2]`; empty for the root and for text that is not JSON.
 */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly code: JsonErrorCode
  readonly path: string

  constructor(code: JsonErrorCode, path = '', options?: ErrorOptions) {
    super(TEXTS[code], options)
    this.code = code
    this.path = path
  }
}

/** The location of a refused value below `base`, such as `body.items[2]`. */
export function locationOf({ path }: JsonError, base: string): string {
  return path === '' || path.startsWith('[') ? base + path : `${base}.${path}`
}

export interface JsonLimits {
  /** Maximum nesting of arrays and objects. Default 64. */
  readonly maxDepth?: number
}

const DEFAULT_MAX_DEPTH = 64
const MAX_PATH_LENGTH = 200

/**
 * Parses JSON like `JSON.parse`, and refuses nesting beyond 64 levels, the key `__proto__`, and U+0000
 * and lone surrogates in strings and keys, however they are escaped (I-JSON, RFC 7493, 2.1).
 *
 * It checks the text, so that a value hidden by a duplicate key is checked too. A text that would block
 * the process for long or exhaust its memory is refused before it is parsed.
 *
 * @throws JsonError with one of the codes of `JsonErrorCode`
 * @example
 * parseJson('{"app_id":"a1"}') // { app_id: 'a1' }
 * parseJson('[[1]]', { maxDepth: 1 }) // throws json_too_deep at path '[0]'
 */
export function parseJson(text: string, limits?: JsonLimits): unknown {
  const maxDepth = limits?.maxDepth ?? DEFAULT_MAX_DEPTH
  const isCounted = isLong(text)
  if (isCounted || opensMoreThan(text, maxDepth)) {
    const counts = countIn(text, maxDepth)
    if (counts === undefined) refuseFaults(text, maxDepth)
    else if (isCounted && isExpensive(text, counts)) throw new JsonError('json_too_complex')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new JsonError('invalid_json', '', { cause })
  }
  if (mayHoldForbidden(text)) refuseFaults(text, maxDepth)
  return value
}

/**
 * Applies the rules of `parseJson` to a text that is known to be JSON, such as the output of
 * `JSON.stringify`.
 *
 * @throws JsonError
 */
export function requireIJson(text: string, limits?: JsonLimits): void {
  const maxDepth = limits?.maxDepth ?? DEFAULT_MAX_DEPTH
  if (isTooDeep(text, maxDepth) || mayHoldForbidden(text)) refuseFaults(text, maxDepth)
}

function isTooDeep(text: string, maxDepth: number): boolean {
  return opensMoreThan(text, maxDepth) && countIn(text, maxDepth) === undefined
}

/** Counts all opening brackets, also in strings: with at most `limit` of them no nesting is deeper. */
function opensMoreThan(text: string, limit: number): boolean {
  let left = limit
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (left-- === 0) return true
    }
  }
  return false
}

/**
 * Escapes of U+0000, of the characters of `__proto__`, and of surrogates, which may be lone ones.
 */
const ESCAPED_FORBIDDEN = /\\u(?:00(?:00|5f|6f|7[024])|d[89a-f])/i

function mayHoldForbidden(text: string): boolean {
  return (
    text.includes('__proto__') ||
    !text.isWellFormed() ||
    (text.includes('\\u') && ESCAPED_FORBIDDEN.test(text))
  )
}

/** One step of a path: a key of an object or an index of an array. */
type Step = string | number

/** Throws at the first fault of a JSON text. In text that is not JSON it finds some fault or none. */
function refuseFaults(text: string, maxDepth: number): void {
  const path: Step[] = []
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = readString(text, at, path)
      continue
    }
    if (code === OBJECT_OPEN || code === ARRAY_OPEN) {
      if (path.length === maxDepth) throw new JsonError('json_too_deep', printPath(path))
      path.push(code === ARRAY_OPEN ? 0 : '')
    } else if (code === OBJECT_CLOSE || code === ARRAY_CLOSE) {
      path.pop()
    } else if (code === COMMA) {
      const last = path.length - 1
      const step = path[last]
      if (typeof step === 'number') path[last] = step + 1
    }
    at += 1
  }
}

/** Checks the string that begins at `open`, puts it into `path` when it is a key, and returns its end. */
function readString(text: string, open: number, path: Step[]): number {
  const end = stringEnd(text, open)
  const token = text.slice(open, end)
  const value = token.includes('\\') ? unescape(token) : token.slice(1, -1)
  const isKey = isFollowedByColon(text, end)
  if (isKey && path.length > 0) path[path.length - 1] = value
  if (value.includes('\0')) throw new JsonError('json_nul', printPath(path))
  if (!value.isWellFormed()) throw new JsonError('json_lone_surrogate', printPath(path))
  if (isKey && value === '__proto__') throw new JsonError('json_forbidden_key', printPath(path))
  return end
}

function unescape(token: string): string {
  try {
    return String(JSON.parse(token))
  } catch (cause) {
    throw new JsonError('invalid_json', '', { cause })
  }
}

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/

function printPath(path: readonly Step[]): string {
  let printed = ''
  for (const step of path) {
    if (typeof step === 'number') printed += `[${step}]`
    else if (!PLAIN_KEY.test(step)) printed += `[${JSON.stringify(step.slice(0, MAX_PATH_LENGTH))}]`
    else printed += printed === '' ? step : `.${step}`
    if (printed.length > MAX_PATH_LENGTH) break
  }
  return cutText(printed, MAX_PATH_LENGTH)
}
