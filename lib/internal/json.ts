export type JsonErrorCode = 'invalid_json' | 'json_too_deep' | 'json_forbidden_key' | 'json_nul'

const TEXTS: Readonly<Record<JsonErrorCode, string>> = {
  invalid_json: 'The text is not JSON.',
  json_too_deep: 'Arrays and objects are nested too deeply.',
  json_forbidden_key: 'The key __proto__ is not allowed.',
  json_nul: 'Strings must not contain the character U+0000.',
}

/**
 * A JSON text that is refused: its `code` says why, its `path` where.
 *
 * `path` reads like `data.items[2]`; it is empty for the root and for text that is not JSON.
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

export interface JsonLimits {
  /** Arrays and objects may nest this deep. Default 64. */
  readonly maxDepth?: number
}

const DEFAULT_MAX_DEPTH = 64
const MAX_PATH_LENGTH = 200

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const ARRAY_OPEN = 0x5b
const BACKSLASH = 0x5c
const ARRAY_CLOSE = 0x5d
const OBJECT_OPEN = 0x7b
const OBJECT_CLOSE = 0x7d

/**
 * Parses JSON as `JSON.parse` does, and refuses nesting beyond 64 levels, the key `__proto__` and
 * U+0000 in strings and keys, however they are escaped.
 *
 * The text itself is judged, so that what a duplicate key hides is refused too. Lone surrogates
 * are kept.
 *
 * @throws JsonError with `invalid_json`, `json_too_deep`, `json_forbidden_key` or `json_nul`.
 * @example
 * parseJson('{"app_id":"a1"}') // { app_id: 'a1' }
 * parseJson('[[1]]', { maxDepth: 1 }) // throws json_too_deep at path '[0]'
 */
export function parseJson(text: string, limits?: JsonLimits): unknown {
  const maxDepth = limits?.maxDepth ?? DEFAULT_MAX_DEPTH
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new JsonError('invalid_json', '', { cause })
  }
  if (isTooDeep(text, maxDepth) || mayHoldForbidden(text)) refuseFaults(text, maxDepth)
  return value
}

function isTooDeep(text: string, maxDepth: number): boolean {
  return opensMoreThan(text, maxDepth) && nestsDeeperThan(text, maxDepth)
}

/** Counts brackets wherever they stand: no more of them than levels means no nesting beyond. */
function opensMoreThan(text: string, limit: number): boolean {
  let left = limit
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (left-- === 0) return true
    }
  }
  return false
}

function nestsDeeperThan(text: string, limit: number): boolean {
  let depth = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === OBJECT_OPEN || code === ARRAY_OPEN) depth += 1
    else if (code === OBJECT_CLOSE || code === ARRAY_CLOSE) depth -= 1
    if (depth > limit) return true
    at = code === QUOTE ? stringEnd(text, at) : at + 1
  }
  return false
}

/** U+0000 can only be written as an escape; `__proto__` plainly or with one of its letters escaped. */
const ESCAPED_FORBIDDEN = /\\u00(?:00|5f|6f|7[024])/i

function mayHoldForbidden(text: string): boolean {
  return text.includes('__proto__') || (text.includes('u00') && ESCAPED_FORBIDDEN.test(text))
}

/** One step of a path: a key of an object or an index of an array. */
type Step = string | number

/** Reads text that is known to be JSON, and throws at its first fault. */
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

/** Judges the string that opens at `open`, notes it in `path` when it is a key, and returns its end. */
function readString(text: string, open: number, path: Step[]): number {
  const end = stringEnd(text, open)
  const token = text.slice(open, end)
  const value = token.includes('\\') ? String(JSON.parse(token)) : token.slice(1, -1)
  const isKey = isFollowedByColon(text, end)
  if (isKey) path[path.length - 1] = value
  if (value.includes('\0')) throw new JsonError('json_nul', printPath(path))
  if (isKey && value === '__proto__') throw new JsonError('json_forbidden_key', printPath(path))
  return end
}

function stringEnd(text: string, open: number): number {
  let at = open + 1
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    at += code === BACKSLASH ? 2 : 1
  }
}

/** In JSON a colon follows every key and no value. */
function isFollowedByColon(text: string, end: number): boolean {
  let at = end
  while (text.charCodeAt(at) <= 0x20) at += 1
  return text.charCodeAt(at) === COLON
}

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/

function printPath(path: readonly Step[]): string {
  let printed = ''
  for (const step of path) {
    if (typeof step === 'number') printed += `[${step}]`
    else if (!PLAIN_KEY.test(step)) printed += `[${JSON.stringify(step)}]`
    else printed += printed === '' ? step : `.${step}`
    if (printed.length > MAX_PATH_LENGTH) return `${printed.slice(0, MAX_PATH_LENGTH)}…`
  }
  return printed
}
