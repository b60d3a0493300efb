import { DAY, SECOND } from '../../../lib/time.ts'

/** How a session travels: its cookie's name and the `Set-Cookie` values that begin and end it. */
export interface SessionCookie {
  readonly name: string
  set(value: string): string
  clear(): string
}

/** As long as a session lasts; the server's own record of the end is what counts. */
const MAX_AGE_SECONDS = (30 * DAY) / SECOND

/**
 * The session's cookie for the address that clients see: `__Host-keyhook` on https; on loopback http
 * `keyhook`, without `Secure`, which some browsers refuse there; undefined on other http, where
 * everybody on the way could read it.
 *
 * Name prefix: draft-ietf-httpbis-rfc6265bis, 4.1.3.2.
 *
 * @example
 * sessionCookie('https://keys.example.com')?.name // '__Host-keyhook'
 * sessionCookie('http://keys.example.com') // undefined
 */
export function sessionCookie(baseUrl: string): SessionCookie | undefined {
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol === 'https:') return cookie('__Host-keyhook', 'Secure; HttpOnly; SameSite=Lax')
  return isLoopback(hostname) ? cookie('keyhook', 'HttpOnly; SameSite=Strict') : undefined
}

function cookie(name: string, attributes: string): SessionCookie {
  return {
    name,
    set: (value) => `${name}=${value}; Path=/; Max-Age=${MAX_AGE_SECONDS}; ${attributes}`,
    clear: () => `${name}=; Path=/; Max-Age=0; ${attributes}`,
  }
}

/** Of a parsed URL's host, where every spelling of an IPv4 address has become the dotted one. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  )
}
