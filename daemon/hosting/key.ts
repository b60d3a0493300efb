/** `%2F`, `%5C` and `%00`: they would become what separates or ends a name. */
const ENCODED_BREAK = /%(?:2f|5c|00)/i

/** A name that is empty, or begins with a dot, and what no name of a file holds. */
const NOT_A_NAME = /(?:^|\/)[./]|[\\\p{Cc}]/u

/**
 * What a path asks a manifest for, decoded once and never joined to anything: the path of a file, or of
 * a folder with its slash at the end; else the status of what names no file, or is no path.
 *
 * @example
 * keyOf('/caf%C3%A9/') // 'café/'
 * keyOf('/..%2f..%2fetc/passwd') // 404
 */
export function keyOf(path: string): string | 400 | 404 {
  const raw = path.slice(1)
  if (ENCODED_BREAK.test(raw)) return 404
  try {
    const key = raw.includes('%') ? decodeURIComponent(raw) : raw
    return NOT_A_NAME.test(key) ? 404 : key
  } catch {
    return 400
  }
}
