import type { AddressRefusal } from './refusals.ts'

/** An address in network byte order: 4 bytes for IPv4, 16 for IPv6. */
export interface Address {
  readonly family: 4 | 6
  readonly bytes: Uint8Array
}

/** A block of addresses: the first `prefix` bits of `bytes`; the other bits are zero. */
export interface Cidr extends Address {
  readonly prefix: number
}

export type AddressVerdict =
  | { readonly public: true }
  | { readonly public: false; readonly reason: AddressRefusal }

/**
 * Parses an IPv4 or IPv6 address; undefined for any other text. Strict: no octal, hex or short forms of
 * IPv4, no zone ids, no brackets (RFC 4291, 2.2; RFC 3986, 3.2.2).
 *
 * @example
 * parseAddress('127.0.0.1')?.bytes // Uint8Array [127, 0, 0, 1]
 * parseAddress('0177.0.0.1') // undefined
 */
export function parseAddress(text: string): Address | undefined {
  const bytes = text.includes(':') ? parseV6(text) : parseV4(text)
  return bytes && { family: bytes.length === 4 ? 4 : 6, bytes: Uint8Array.from(bytes) }
}

function parseV4(text: string): readonly number[] | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  const bytes = parts.map((part) => (/^(?:0|[1-9]\d{0,2})$/.test(part) ? Number(part) : 256))
  return bytes.every((byte) => byte < 256) ? bytes : undefined
}

function parseV6(text: string): readonly number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = parseGroups(halves[0] ?? '', halves.length === 1)
  const tail = parseGroups(halves[1] ?? '', true)
  if (!head || !tail) return undefined
  const missing = 16 - head.length - tail.length
  // "::" stands for at least one group.
  if (halves.length === 2 ? missing < 2 : missing !== 0) return undefined
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail]
}

/** Parses groups separated by colons; only the end of an address may be dotted. */
function parseGroups(text: string, isEnd: boolean): readonly number[] | undefined {
  if (text === '') return []
  const groups = text.split(':')
  const bytes: number[] = []
  for (const [index, group] of groups.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 0xff)
      continue
    }
    const dotted = isEnd && index === groups.length - 1 ? parseV4(group) : undefined
    if (!dotted) return undefined
    bytes.push(...dotted)
  }
  return bytes
}

/**
 * Parses `address/prefix`, or one address as a block of one; undefined for any other text, and when bits
 * beyond the prefix are set. A block of IPv4-mapped addresses becomes the IPv4 block.
 *
 * @example
 * parseCidr('10.0.0.0/8')?.prefix // 8
 * parseCidr('10.0.0.1/8') // undefined
 */
export function parseCidr(text: string): Cidr | undefined {
  const [addressText = '', prefixText, ...rest] = text.split('/')
  const address = parseAddress(addressText)
  if (!address || rest.length > 0) return undefined
  const width = address.bytes.length * 8
  if (prefixText !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(prefixText)) return undefined
  const prefix = prefixText === undefined ? width : Number(prefixText)
  if (prefix > width || !isZeroBeyond(address.bytes, prefix)) return undefined
  const plain = unmapAddress(address)
  // A mapped address has bits set up to the 96th, so its prefix is at least 96.
  return { ...plain, prefix: plain === address ? prefix : prefix - 96 }
}

function isZeroBeyond(bytes: Uint8Array, prefix: number): boolean {
  return bytes.every((byte, index) => {
    const free = Math.min(8, Math.max(0, (index + 1) * 8 - prefix))
    return (byte & ((1 << free) - 1)) === 0
  })
}

/**
 * Whether a block contains an address. IPv4-mapped IPv6 is unmapped first. A block contains only its own
 * family: `::/0` contains no IPv4 address. Text that is not an address is in no block.
 *
 * @example
 * const block = parseCidr('10.0.0.0/8')
 * block && inCidr(block, '::ffff:10.1.2.3') // true
 */
export function inCidr(cidr: Cidr, text: string): boolean {
  const address = parseAddress(text)
  return address !== undefined && holds(cidr, unmapAddress(address))
}

function holds(cidr: Cidr, address: Address): boolean {
  if (cidr.family !== address.family) return false
  const whole = cidr.prefix >> 3
  for (let index = 0; index < whole; index += 1) {
    if (cidr.bytes[index] !== address.bytes[index]) return false
  }
  const rest = cidr.prefix & 7
  if (rest === 0) return true
  const mask = 0xff << (8 - rest)
  return ((cidr.bytes[whole] ?? 0) & mask) === ((address.bytes[whole] ?? 0) & mask)
}

/** Converts `::ffff:a.b.c.d` to `a.b.c.d` (RFC 4291, 2.5.5.2); returns any other address unchanged. */
export function unmapAddress(address: Address): Address {
  const isMapped =
    address.family === 6 &&
    address.bytes.subarray(0, 10).every((byte) => byte === 0) &&
    address.bytes[10] === 0xff &&
    address.bytes[11] === 0xff
  return isMapped ? { family: 4, bytes: address.bytes.slice(12) } : address
}

/**
 * Judges one address: public, or the reason why it is refused. IPv6 is public only within 2000::/3 and
 * outside the special blocks (IANA special-purpose address registries).
 *
 * @example
 * judgeAddress('8.8.8.8') // { public: true }
 * judgeAddress('::ffff:7f00:1') // { public: false, reason: 'address_loopback' }
 */
export function judgeAddress(text: string): AddressVerdict {
  const parsed = parseAddress(text)
  if (!parsed) {
    return { public: false, reason: text.includes('%') ? 'address_zone' : 'address_malformed' }
  }
  const address = unmapAddress(parsed)
  const refused = REFUSED.find(({ cidr }) => holds(cidr, address))
  if (refused) return { public: false, reason: refused.reason }
  const isPublic = address.family === 4 || holds(GLOBAL_UNICAST, address)
  return isPublic ? { public: true } : { public: false, reason: 'address_reserved' }
}

function block(text: string): Cidr {
  const cidr = parseCidr(text)
  if (!cidr) throw new TypeError(`not a block of addresses: ${text}`)
  return cidr
}

const GLOBAL_UNICAST = block('2000::/3')

/** The first match gives the reason, so a narrow block precedes the block that contains it. */
const REFUSED_BLOCKS: readonly (readonly [AddressRefusal, readonly string[]])[] = [
  // Metadata services of clouds outside link-local space; 168.63.129.16 is in no registry.
  ['address_metadata', ['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32']],
  ['address_metadata', ['fd00:ec2::254/128']],
  // On Linux 0.0.0.0 reaches the local host.
  ['address_unspecified', ['0.0.0.0/8', '::/128']],
  ['address_loopback', ['127.0.0.0/8', '::1/128']],
  // RFC 1918, unique local, and the deprecated site-local space.
  ['address_private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10']],
  ['address_shared', ['100.64.0.0/10']],
  ['address_link_local', ['169.254.0.0/16', 'fe80::/10']],
  ['address_protocol', ['192.0.0.0/24', '2001::/23']],
  ['address_anycast', ['192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24']],
  ['address_anycast', ['2620:4f:8000::/48']],
  // 6to4, IPv4-compatible, SIIT, NAT64: the embedded address would not be judged.
  ['address_translation', ['192.88.99.0/24', '2002::/16', '::/96', '::ffff:0:0:0/96']],
  ['address_translation', ['64:ff9b::/96', '64:ff9b:1::/48']],
  ['address_benchmarking', ['198.18.0.0/15']],
  ['address_documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24']],
  ['address_documentation', ['2001:db8::/32', '3fff::/20']],
  ['address_multicast', ['224.0.0.0/4', 'ff00::/8']],
  ['address_broadcast', ['255.255.255.255/32']],
  ['address_reserved', ['240.0.0.0/4', '3ffe::/16']],
]

const REFUSED = REFUSED_BLOCKS.flatMap(([reason, blocks]) =>
  blocks.map((text) => ({ reason, cidr: block(text) })),
)
