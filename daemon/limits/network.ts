import type { Address } from '../../lib/egress/address.ts'
import { parseAddress, unmapAddress } from '../../lib/egress/address.ts'

/**
 * Prefix lengths of networks that one customer may hold as a whole: those assigned to sites (RFC 6177), and
 * their equivalents of IPv4.
 */
const WIDER = { 4: [16, 24], 6: [48, 56] } as const

/**
 * The network that counts an anonymous caller: the IPv4 address, or the /64 of an IPv6 address, because a
 * host usually chooses freely within its /64 (RFC 6177). An IPv4-mapped IPv6 address counts as the IPv4
 * address. Every limit per address uses this function.
 *
 * @returns the text itself when it is no address, as over the control socket
 * @example
 * networkOf('::ffff:192.0.2.1') // '192.0.2.1'
 * networkOf('2001:db8::1') // '2001:db8:0:0::/64'
 */
export function networkOf(address: string): string {
  const parsed = read(address)
  if (parsed === undefined) return address
  return parsed.family === 4 ? parsed.bytes.join('.') : print(parsed, 64)
}

/**
 * The wider networks of an address, the widest first: /48 and /56 of IPv6, /16 and /24 of IPv4. A holder of
 * one of them has many networks of `networkOf`.
 *
 * @returns none when the text is no address
 * @example
 * widerNetworksOf('192.0.2.1') // ['192.0.0.0/16', '192.0.2.0/24']
 * widerNetworksOf('2001:db8::1') // ['2001:db8:0::/48', '2001:db8:0:0::/56']
 */
export function widerNetworksOf(address: string): readonly string[] {
  const parsed = read(address)
  if (parsed === undefined) return []
  return WIDER[parsed.family].map((prefix) => print(parsed, prefix))
}

function read(address: string): Address | undefined {
  const parsed = parseAddress(address)
  return parsed && unmapAddress(parsed)
}

/** @param prefix a multiple of 8 */
function print({ family, bytes }: Address, prefix: number): string {
  const kept = bytes.map((byte, at) => (at < prefix / 8 ? byte : 0))
  if (family === 4) return `${kept.join('.')}/${prefix}`
  const groups = Array.from({ length: Math.ceil(prefix / 16) }, (_, at) =>
    (((kept[2 * at] ?? 0) << 8) | (kept[2 * at + 1] ?? 0)).toString(16),
  )
  return `${groups.join(':')}::/${prefix}`
}
