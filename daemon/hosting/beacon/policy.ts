/** What the beacon needs: loading a script, and sending (CSP 3, 6.8.3: each falls back to the next). */
const FETCHES = [
  ['script-src-elem', 'script-src', 'default-src'],
  ['connect-src', 'default-src'],
] as const

/**
 * Whether a page's own Content-Security-Policy allows loading `/_p/obs.js` and reporting to its own origin.
 * A policy that may forbid either counts as forbidding it: nothing is added to it, and no page requests
 * what its browser then blocks.
 *
 * @param isSecure whether apps are served over https
 * @example allowsBeacon("default-src 'self'", true) // true allowsBeacon("script-src 'nonce-abc'
 *   'strict-dynamic'", true) // false
 */
export function allowsBeacon(policy: string, isSecure: boolean): boolean {
  const directives = new Map<string, readonly string[]>()
  for (const directive of policy.split(';')) {
    const [name = '', ...sources] = directive.trim().toLowerCase().split(/\s+/)
    if (!directives.has(name)) directives.set(name, sources)
  }
  return FETCHES.every((names) => {
    const governing = names.find((name) => directives.has(name))
    const sources = governing === undefined ? undefined : directives.get(governing)
    return sources === undefined || matchesOwnOrigin(sources, isSecure)
  })
}

/** Sources with a host are ignored: an app has several names. */
function matchesOwnOrigin(sources: readonly string[], isSecure: boolean): boolean {
  // It ignores hosts and 'self', and trusts only nonces and hashes.
  if (sources.includes("'strict-dynamic'")) return false
  return sources.some(
    (source) =>
      source === "'self'" ||
      source === '*' ||
      source === 'http:' ||
      (isSecure && source === 'https:'),
  )
}
