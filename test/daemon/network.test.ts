import t from 'tap'
import { networkOf, widerNetworksOf } from '../../daemon/limits/network.ts'
import { callerOf } from '../../daemon/authority/principal.ts'

/** Addresses of one row are one network; those of different rows are different networks. */
const NETWORKS: readonly (readonly [name: string, ...addresses: string[]])[] = [
  ['192.0.2.1', '192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '::FFFF:C000:0201'],
  ['192.0.2.2', '192.0.2.2'],
  ['2001:db8:0:0::/64', '2001:db8::1', '2001:DB8::ffff:0:0:1', '2001:db8:0:0:1::'],
  ['2001:db8:0:1::/64', '2001:db8:0:1::1', '2001:0db8:0000:0001::2'],
  ['0:0:0:0::/64', '::1', '::', '::ffff:0:0:0'],
  ['', ''],
]

await t.test('a network is an IPv4 address or the /64 of an IPv6 address', async (t) => {
  for (const [name, ...addresses] of NETWORKS) {
    for (const address of addresses) t.equal(networkOf(address), name, address)
  }
})

await t.test('wider networks are those that sites are given, the widest first', async (t) => {
  const wider = {
    '192.0.2.1': ['192.0.0.0/16', '192.0.2.0/24'],
    '::ffff:192.0.2.9': ['192.0.0.0/16', '192.0.2.0/24'],
    '2001:db8:1:abcd::1': ['2001:db8:1::/48', '2001:db8:1:ab00::/56'],
    '2001:db8:1:abff:1::': ['2001:db8:1::/48', '2001:db8:1:ab00::/56'],
    '': [],
  }
  for (const [address, networks] of Object.entries(wider)) {
    t.same(widerNetworksOf(address), networks, address)
  }
})

await t.test('anonymous callers are counted by network', async (t) => {
  t.same(callerOf(undefined, '2001:db8::1'), callerOf(undefined, '2001:db8::2'))
  t.notSame(callerOf(undefined, '192.0.2.1'), callerOf(undefined, '192.0.2.2'))
})
