/** What the beacon needs: to be loaded as a script, and to send (CSP 3, 6.8.3: each falls back in turn). */
const FETCHES = [
  ['script-src-elem', 'script-src', 'default-src'],
  ['connect-src', 'default-src'],
] as const

/**
 * Whether a page's own Content-Security-Policy lets it load `/_p/obs.js` and report to its own origin. A
 * policy that may forbid either is taken to do so: nothing is added to it, and no page asks for what its
 * browser then blocks.
 *
 * @param isSecure whether apps are served by https
 * @example
 * allowsBeacon("default-src 'self'", true) // true
 * allowsBeacon("script-src 'nonce-abc' 'strict-dynamic'", true) // false
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

/** Sources with a host are not looked at: an app has several names. */
function matchesOwnOrigin(sources: readonly string[], isSecure: boolean): boolean {
  // It takes trust from hosts and 'self', and gives it to nonces and hashes alone.
  if (sources.includes("'strict-dynamic'")) return false
  return sources.some(
    (source) =>
      source === "'self'" ||
      source === '*' ||
      source === 'http:' ||
      (isSecure && source === 'https:'),
  )
}
