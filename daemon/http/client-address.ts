import type { IncomingMessage } from 'node:http'
import type { Cidr } from '../../lib/egress/address.ts'
import { inCidr, parseAddress } from '../../lib/egress/address.ts'

/**
 * The address of a request's client: the peer, or the one that the outermost trusted proxy reports.
 *
 * `X-Forwarded-For` is read from its end and trusted only as far as every hop behind an entry is trusted:
 * anyone could have written the entries before.
 */
export function clientAddress(request: IncomingMessage, trusted: readonly Cidr[]): string {
  const peer = plainAddress(request.socket.remoteAddress ?? '')
  if (!isTrusted(peer, trusted)) return peer
  const hops = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => plainAddress(hop.trim()))
  let address = peer
  while (isTrusted(address, trusted)) {
    const before = hops.pop()
    if (before === undefined || parseAddress(before) === undefined) break
    address = before
  }
  return address
}

/** Whether an address belongs to a trusted proxy. */
export function isTrusted(address: string, trusted: readonly Cidr[]): boolean {
  return trusted.some((block) => inCidr(block, address))
}

/** A dual-stack socket writes IPv4 as `::ffff:127.0.0.1`. */
export function plainAddress(text: string): string {
  return text.includes(':') ? text.replace(/^::ffff:(?=\d+\.)/i, '') : text
}
