import { parseAddress, unmapAddress } from '../lib/egress/address.ts'

/**
 * The network that an anonymous caller is counted by: the IPv4 address, or the /64 of an IPv6 address,
 * since one host usually chooses freely within its /64 (RFC 6177). An IPv4-mapped IPv6 address counts
 * as the IPv4 address. Every limit per address uses this function.
 *
 * @returns the text itself when it is no address, as over the control socket
 * @example
 * networkOf('::ffff:192.0.2.1') // '192.0.2.1'
 * networkOf('2001:db8::1') // '2001:db8:0:0::/64'
 */
export function networkOf(address: string): string {
  const parsed = parseAddress(address)
  if (parsed === undefined) return address
  const { family, bytes } = unmapAddress(parsed)
  if (family === 4) return bytes.join('.')
  const groups = [0, 2, 4, 6].map((at) =>
    (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16),
  )
  return `${groups.join(':')}::/64`
}
