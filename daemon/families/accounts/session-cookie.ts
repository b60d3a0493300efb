import type { ResponseCookie } from '../../operations/call.ts'

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
export function sessionCookie(baseUrl: string): ResponseCookie | undefined {
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol === 'https:') return { name: '__Host-keyhook', secure: true, sameSite: 'lax' }
  if (!isLoopback(hostname)) return undefined
  return { name: 'keyhook', secure: false, sameSite: 'strict' }
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
