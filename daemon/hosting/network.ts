import { parseAddress } from '../../lib/egress/address.ts'

/** What one visitor can choose addresses from: the address itself, of IPv6 the first half. */
export function networkOf(address: string): string {
  const parsed = parseAddress(address)
  return parsed?.family === 6 ? Buffer.from(parsed.bytes.subarray(0, 8)).toString('hex') : address
}
