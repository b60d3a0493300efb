/** The client's own headers, and those that belong to one connection (RFC 9110 section 7.6.1). */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** A character that a value may not contain: faster to find than to match all others. */
const NOT_A_VALUE = /[^\t\u0020-\u007e\u0080-\u00ff]/

const MAX_KNOWN_NAMES = 2000

/**
 * Creates the function that lays headers out flat, as undici reads them fastest; it answers
 * undefined when one is forbidden or not well-formed (RFC 9110 sections 5.1 and 5.5). Undici would
 * throw on those and leave the connection out of its pool for good, so it never sees them.
 *
 * @example
 * createHeaderLayout()({ 'content-type': 'application/json' })
 * // ['accept-encoding', 'identity', 'content-type', 'application/json']
 */
export function createHeaderLayout(): (
  headers: Readonly<Record<string, string>>,
) => string[] | undefined {
  const known = new Set<string>()

  function isSound(name: string): boolean {
    if (known.has(name)) return true
    const sound = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name) && !FORBIDDEN.has(name.toLowerCase())
    if (sound && known.size < MAX_KNOWN_NAMES) known.add(name)
    return sound
  }

  return (headers) => {
    const flat = ['accept-encoding', 'identity']
    for (const name of Object.keys(headers)) {
      const value = headers[name]
      if (value === undefined || !isSound(name) || NOT_A_VALUE.test(value)) return undefined
      flat.push(name, value)
    }
    return flat
  }
}
