import { parseAddress } from '../../lib/egress/address.ts'

/** RFC 1123, 2.1: letters, digits, and hyphens between them. */
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const NAME = new RegExp(String.raw`^${LABEL}(?:\.${LABEL})*$`)

/** Whether a text is a name of a host: lower case, without a final dot, what is not ASCII as punycode. */
export function isHostName(text: string): boolean {
  return text.length <= 253 && NAME.test(text)
}

/**
 * The host that `Host`, `Origin` or an absolute target names: lower case, without its port and final dot.
 * Undefined for anything else than `host` or `host:port` (RFC 9110, 7.2).
 *
 * @example
 * parseAuthority('Shop.LOCALHOST.:8421') // 'shop.localhost'
 * parseAuthority('shop.localhost@evil.example') // undefined
 */
export function parseAuthority(text: string): string | undefined {
  const [, host, port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d{0,5}))?$/.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535) return undefined
  if (host.startsWith('[')) {
    return parseAddress(host.slice(1, -1))?.family === 6 ? host.toLowerCase() : undefined
  }
  const name = host.toLowerCase().replace(/\.$/, '')
  return isHostName(name) ? name : undefined
}
