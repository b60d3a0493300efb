import fc from 'fast-check'
import t from 'tap'
import { inCidr, judgeAddress, parseAddress, parseCidr } from '../../lib/egress/address.ts'
import { judgeLabels, judgeName } from '../../lib/egress/name.ts'
import {
  judgeAnswers,
  judgeUrl,
  parseAllowList,
  REFUSALS,
  type EgressPolicy,
  type RefusalReason,
} from '../../lib/egress/url.ts'
import { judge, OPEN } from '../adversarial/judge.ts'

const P = '8.8.8.8'
const P6 = '2606:4700::1111'

function allowing(list: string, rest: Partial<EgressPolicy> = {}): EgressPolicy {
  return { schemes: ['https'], allow: parseAllowList(list), ...rest }
}

void t.test('more urls that are refused', (t) => {
  const rows: readonly (readonly [string, RefusalReason])[] = [
    ['', 'malformed'],
    ['//hooks.example.com/', 'malformed'],
    ['https:///hooks.example.com/', 'malformed'],
    ['https://', 'malformed'],
    ['https://?x', 'malformed'],
    ['https://hooks.example.com:65536/', 'malformed'],
    ['https://ex%00ample.com/', 'malformed'],
    ['https://@hooks.example.com/', 'userinfo'],
    ['https://hooks.example.com/in#', 'fragment'],
    ['https://hooks.example.com/a b', 'control_character'],
    ['https://hooks.exam\nple.com/', 'control_character'],
    ['https://hooks.example.com/\u0085', 'control_character'],
    ['https://a..example.com/', 'name_label'],
    ['https://hooks.example.com../', 'name_label'],
    [`https://${'a'.repeat(64)}.example.com/`, 'name_label'],
    [`https://${'a.'.repeat(126)}com/`, 'name_label'],
    ['https://a*b.example.com/', 'name_label'],
    ['https://loca\u00adlhost/', 'name_special'],
    ['https://router.lan/', 'name_special'],
    ['https://1.0.0.127.in-addr.arpa/', 'name_special'],
    ['https://hooks.example/', 'name_special'],
    ['https://hooks.example.com:6667/', 'port'],
    ['https://hooks.example.com:1023/', 'port'],
    ['https://8.8.8.8:25/', 'port'],
    ['https://hooks.example.com\\in', 'backslash'],
    ['1https://hooks.example.com/', 'malformed'],
    ['xhttps://hooks.example.com/', 'scheme'],
    [`https://hooks.example.com/${'a'.repeat(2048)}`, 'too_long'],
    [`https://hooks.example.com/${'a'.repeat(2023)}`, 'too_long'],
    [`https://hooks.example.com/${'a/../'.repeat(405)}`, 'too_long'],
    [`https://hooks.example.com/${'é'.repeat(1000)}`, 'too_long'],
  ]
  for (const [url, reason] of rows) {
    t.equal(judge(url, [P]), reason, JSON.stringify(url.slice(0, 60)))
  }
  t.end()
})

void t.test('up to the edges of what is refused', (t) => {
  const urls = [
    `https://hooks.example.com/${'a'.repeat(2022)}`,
    'https://hooks.example.com:1024/',
    'https://hooks.example.com/a//',
    'https://hooks.example.com/a//b@c',
  ]
  for (const url of urls) t.equal(judge(url, [P]), 'accepted', url.slice(0, 60))
  t.end()
})

void t.test('an accepted url is canonical', (t) => {
  t.strictSame(judgeUrl('HTTPS://Hooks.Example.COM.:443/a/../b?q=1', OPEN), {
    ok: true,
    url: {
      href: 'https://hooks.example.com/b?q=1',
      origin: 'https://hooks.example.com',
      protocol: 'https:',
      hostname: 'hooks.example.com',
      port: 443,
      path: '/b?q=1',
      literal: false,
      allowed: 'public',
    },
  })
  t.match(judgeUrl('http://[2606:4700:0::1111]:8080', OPEN), {
    url: {
      href: 'http://[2606:4700::1111]:8080/',
      origin: 'http://[2606:4700::1111]:8080',
      hostname: '2606:4700::1111',
      port: 8080,
      path: '/',
      literal: true,
    },
  })
  t.match(judgeUrl('https://bücher.example.com/', OPEN), {
    url: { hostname: 'xn--bcher-kva.example.com' },
  })
  t.match(judgeUrl('http://hooks.example.com/', OPEN), { url: { port: 80 } })
  t.end()
})

void t.test(
  'judging is stable: the canonical form of an accepted url is accepted as itself',
  (t) => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), (text) => {
        const first = judgeUrl(text, OPEN)
        if (!first.ok) return
        const second = judgeUrl(first.url.href, OPEN)
        t.strictSame(second, first)
      }),
      { numRuns: 300 },
    )
    t.end()
  },
)

void t.test('plain http is refused unless the policy or the operator permits it', (t) => {
  t.equal(judge('http://hooks.example.com/', [P], allowing('')), 'scheme')
  t.equal(judge('http://hooks.example.com/', [P], allowing('hooks.example.com')), 'accepted')
  t.equal(judge('ftp://hooks.example.com/', [P], allowing('hooks.example.com')), 'scheme')
  t.end()
})

const BLOCK_EDGES: readonly (readonly [RefusalReason, readonly string[], readonly string[]])[] = [
  ['address_unspecified', ['0.0.0.0', '0.255.255.255', '::'], ['1.0.0.0']],
  ['address_private', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0']],
  ['address_private', ['172.16.0.0', '172.31.255.255'], ['172.15.255.255', '172.32.0.0']],
  ['address_private', ['192.168.0.0', '192.168.255.255'], ['192.167.255.255', '192.169.0.0']],
  ['address_private', ['fc00::', 'fdff:ffff::1', 'fec0::1', 'feff::1'], []],
  ['address_shared', ['100.64.0.0', '100.127.255.255'], ['100.63.255.255', '100.128.0.0']],
  ['address_loopback', ['127.0.0.0', '127.255.255.255', '::1'], ['126.255.255.255', '128.0.0.0']],
  ['address_link_local', ['169.254.0.0', '169.254.255.255'], ['169.253.255.255', '169.255.0.0']],
  ['address_link_local', ['fe80::', 'febf:ffff::1'], []],
  ['address_metadata', ['168.63.129.16'], ['168.63.129.15', '168.63.129.17']],
  ['address_protocol', ['192.0.0.0', '192.0.0.9', '192.0.0.255'], ['191.255.255.255', '192.0.1.0']],
  ['address_protocol', ['2001::', '2001:1ff:ffff::1'], ['2001:200::', '2000:ffff::1']],
  ['address_anycast', ['192.31.196.0', '192.31.196.255'], ['192.31.195.255', '192.31.197.0']],
  ['address_anycast', ['192.52.193.0', '192.175.48.255'], ['192.52.194.0', '192.175.49.0']],
  ['address_anycast', ['2620:4f:8000::1'], ['2620:4f:7fff::1', '2620:4f:8001::1']],
  ['address_translation', ['192.88.99.0', '192.88.99.255'], ['192.88.98.255', '192.88.100.0']],
  ['address_translation', ['2002::', '2002:ffff::1'], ['2001:ffff::1', '2003::']],
  ['address_translation', ['::8.8.8.8', '64:ff9b::808:808', '::ffff:0:808:808'], []],
  ['address_benchmarking', ['198.18.0.0', '198.19.255.255'], ['198.17.255.255', '198.20.0.0']],
  ['address_documentation', ['192.0.2.0', '192.0.2.255'], ['192.0.1.255', '192.0.3.0']],
  ['address_documentation', ['198.51.100.0', '198.51.100.255'], ['198.51.99.255', '198.51.101.0']],
  ['address_documentation', ['203.0.113.0', '203.0.113.255'], ['203.0.112.255', '203.0.114.0']],
  ['address_documentation', ['2001:db8::', '2001:db8:ffff::1'], ['2001:db7::', '2001:db9::']],
  ['address_documentation', ['3fff::', '3fff:fff::1'], ['3fff:1000::', '3ffd::1']],
  ['address_multicast', ['224.0.0.0', '239.255.255.255', 'ff00::'], ['223.255.255.255']],
  ['address_broadcast', ['255.255.255.255'], []],
  ['address_reserved', ['240.0.0.0', '255.255.255.254', '3ffe::1', '200::1', '1fff::1'], []],
  ['address_reserved', ['4000::', '64:ff9b::1:808:808', '100:0:0:1::1'], ['2000::', '3ffd:ffff::']],
  ['address_zone', ['fe80::1%eth0', '2606:4700::1111%1'], []],
  ['address_malformed', ['', '127.1', '0177.0.0.1', '1.2.3', '[::1]', 'hooks.example.com'], []],
]

void t.test('every block is refused from its first address to its last', (t) => {
  for (const [reason, refused, accepted] of BLOCK_EDGES) {
    for (const text of refused) {
      t.strictSame(judgeAddress(text), { public: false, reason }, `${text} ${reason}`)
    }
    for (const text of accepted)
      t.strictSame(judgeAddress(text), { public: true }, `${text} public`)
  }
  t.end()
})

void t.test('an IPv4-mapped address is judged as the address it maps', (t) => {
  fc.assert(
    fc.property(fc.ipV4(), (text) => {
      t.strictSame(judgeAddress(`::ffff:${text}`), judgeAddress(text))
    }),
    { numRuns: 300 },
  )
  t.end()
})

void t.test('IPv6 is public only within 2000::/3', (t) => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      const address = parseAddress(text)
      t.ok(address, text)
      const verdict = judgeAddress(text)
      const isMapped = /^[0:]*:ffff:/i.test(text)
      if (verdict.public && !isMapped) t.equal((address?.bytes[0] ?? 0) >> 5, 1, text)
    }),
    { numRuns: 500 },
  )
  t.end()
})

void t.test('only ::ffff:0:0/96 maps IPv4', (t) => {
  const lookalikes = ['::ff:808:808', '::ff00:808:808', '1::ffff:808:808', '2001:db8::ffff:808:808']
  for (const address of lookalikes) t.equal(judgeAddress(address).public, false, address)
  t.equal(judgeAddress('::ffff:808:808').public, true)
  t.notOk(inCidr({ family: 4, prefix: 0, bytes: new Uint8Array(4) }, '::ff:808:808'))
  t.end()
})

void t.test('addresses are read strictly', (t) => {
  t.strictSame(parseAddress('1.2.3.4'), { family: 4, bytes: Uint8Array.of(1, 2, 3, 4) })
  t.strictSame(parseAddress('::')?.bytes, new Uint8Array(16))
  t.strictSame(
    parseAddress('1:2:3:4:5:6:7.8.9.10')?.bytes,
    Uint8Array.of(0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 7, 8, 9, 10),
  )
  t.strictSame(parseAddress('FE80::A')?.bytes, parseAddress('fe80:0:0:0:0:0:0:a')?.bytes)
  const refused = [
    ['01.2.3.4', '1.2.3.256', '1.2.3.4.5', '1.2.3.', '1e1.2.3.4', ' 1.2.3.4', '1.2.3.4\n'],
    [
      '1::2::3',
      '1:2:3:4::5:6:7:8::9',
      ':::',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '1:2:3:4:5:6:7:8::',
    ],
    ['::12345', '::g', ':1::', '1::1.2.3.4:5', '1.2.3.4::', '1:2:3:4:5:6:7:8.9.10.11'],
    ['::1%lo', '[::1]', '::1/128', '٣.1.1.1'],
  ].flat()
  for (const text of refused) t.equal(parseAddress(text), undefined, text)
  t.end()
})

void t.test('blocks are read strictly, and families never mix', (t) => {
  for (const text of [
    '10.0.0.1/8',
    '10.128.0.0/8',
    '10.0.0.0/8/8',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/',
    '::/129',
    '/8',
    '',
  ]) {
    t.equal(parseCidr(text), undefined, text)
  }
  const holds = (block: string, address: string): boolean => {
    const cidr = parseCidr(block)
    t.ok(cidr, block)
    return cidr !== undefined && inCidr(cidr, address)
  }
  t.ok(holds('10.0.0.0/8', '10.255.255.255'))
  t.ok(holds('10.0.0.0/8', '::ffff:10.0.0.1'))
  t.ok(holds('::ffff:10.0.0.0/104', '10.1.2.3'))
  t.ok(holds('1.2.3.4', '1.2.3.4'))
  t.ok(holds('192.168.64.0/18', '192.168.127.255'))
  t.ok(holds('::/0', '2606:4700::1111'))
  t.notOk(holds('192.168.64.0/18', '192.168.128.0'))
  t.notOk(holds('1.2.3.4', '1.2.3.5'))
  t.notOk(holds('::/0', '1.2.3.4'))
  t.notOk(holds('0.0.0.0/0', '::1'))
  t.notOk(holds('0.0.0.0/0', 'localhost'))
  t.end()
})

void t.test('names are judged by their text', (t) => {
  t.equal(judgeName('hooks.example.com'), undefined)
  t.equal(judgeName('a_b.example.com'), undefined)
  t.equal(judgeName('redis'), 'name_single_label')
  t.equal(judgeName('x.onion'), 'name_special')
  t.equal(judgeLabels('localhost'), undefined)
  t.equal(judgeLabels('127.1'), 'name_numeric')
  t.equal(judgeLabels('a.0x7f'), 'name_numeric')
  t.equal(judgeLabels(''), 'name_label')
  t.end()
})

void t.test('the allow list', (t) => {
  void t.test('reads blocks, addresses and names, each with an optional port', (t) => {
    const list = parseAllowList(
      ' 10.0.0.0/8, 127.0.0.1:9000, fd00::/8, [fd01::1]:8443, [::1], LocalHost.:3000, relay,',
    )
    t.strictSame(
      list.blocks.map(({ cidr, port }) => [cidr.family, cidr.prefix, port]),
      [
        [4, 8, undefined],
        [4, 32, 9000],
        [6, 8, undefined],
        [6, 128, 8443],
        [6, 128, undefined],
      ],
    )
    t.strictSame(list.hosts, [
      { host: 'localhost', port: 3000 },
      { host: 'relay', port: undefined },
    ])
    t.strictSame(parseAllowList(''), { blocks: [], hosts: [] })
    t.end()
  })

  void t.test('names the element that is none of these', (t) => {
    const elements = [
      ['10.0.0.1/8', '10.0.0.0/33', '1.2.3.4.5', '127.1', '*', '*.example.com', 'http://a.b'],
      ['a.b:0', 'a.b:65536', 'a.b:', 'a.b:80:80', 'a b', '[a.b]:80', '[::1', '[1.2.3.4]:80'],
      ['bücher.example', '::1:8443:', 'a..b', '10.0.0.1:0443'],
    ].flat()
    for (const element of elements) {
      const text = `10.0.0.0/8,${element}`
      const named = (error: unknown): boolean =>
        error instanceof TypeError && error.message.startsWith(`"${element}"`)
      let thrown: unknown
      try {
        parseAllowList(text)
      } catch (error) {
        thrown = error
      }
      t.ok(named(thrown), element)
    }
    t.end()
  })

  void t.test('opens a private target, plain http and a low port, and only what it names', (t) => {
    const rows: readonly (readonly [
      string,
      string,
      readonly string[],
      'accepted' | RefusalReason,
    ])[] = [
      ['10.0.0.0/8', 'http://10.1.2.3:22/', [], 'accepted'],
      ['10.0.0.0/8', 'http://11.1.2.3/', [], 'scheme'],
      ['127.0.0.1:9000', 'http://127.0.0.1:9000/', [], 'accepted'],
      ['127.0.0.1:9000', 'https://127.0.0.1:9001/', [], 'address_loopback'],
      ['[::1]:9000', 'http://[::1]:9000/', [], 'accepted'],
      ['127.0.0.0/8', 'http://[::ffff:127.0.0.1]/', [], 'accepted'],
      ['10.0.0.0/8', 'https://hooks.example.com/', ['10.0.0.5'], 'accepted'],
      ['10.0.0.0/8', 'https://hooks.example.com/', ['10.0.0.5', P], 'accepted'],
      ['10.0.0.0/8', 'https://hooks.example.com/', ['10.0.0.5', '127.0.0.1'], 'address_loopback'],
      ['10.0.0.0/8:443', 'https://hooks.example.com:8443/', ['10.0.0.5'], 'address_private'],
      ['10.0.0.0/8', 'http://hooks.example.com/', ['10.0.0.5'], 'scheme'],
      ['localhost:3000', 'http://localhost:3000/', ['127.0.0.1', '::1'], 'accepted'],
      ['localhost:3000', 'https://localhost:3001/', ['127.0.0.1'], 'name_special'],
      ['localhost', 'https://foo.localhost/', ['127.0.0.1'], 'name_special'],
      ['hooks.example.com', 'http://hooks.example.com./', ['10.0.0.5'], 'accepted'],
      ['hooks.example.com', 'https://hooks.example.org/', ['10.0.0.5'], 'address_private'],
      ['relay', 'http://relay:0/', [P], 'port'],
      ['relay', 'http://user@relay/', [P], 'userinfo'],
    ]
    for (const [list, url, dns, expected] of rows) {
      t.equal(judge(url, dns, allowing(list)), expected, `${list} ${url} ${dns.join(' ')}`)
    }
    t.end()
  })

  void t.test(
    'never opens link-local or metadata addresses by name, only by block or address',
    (t) => {
      const url = 'https://relay.internal/'
      for (const address of ['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1']) {
        t.equal(judge(url, [address], allowing('relay.internal')), 'address_link_local', address)
      }
      t.equal(judge(url, ['fd00:ec2::254'], allowing('relay.internal')), 'address_metadata')
      t.equal(judge(url, ['fe80::1%eth0'], allowing('relay.internal')), 'address_zone')
      t.equal(judge(url, ['169.254.1.1'], allowing('relay.internal,169.254.0.0/16')), 'accepted')
      t.equal(judge('http://169.254.169.254/', [], allowing('169.254.169.254')), 'accepted')
      t.end()
    },
  )

  void t.test('says whether a target is listed', (t) => {
    t.match(judgeUrl('http://10.0.0.1/', allowing('10.0.0.0/8')), { url: { allowed: 'listed' } })
    t.match(judgeUrl('https://8.8.8.8/', allowing('10.0.0.0/8')), { url: { allowed: 'public' } })
    const target = { hostname: 'hooks.example.com', port: 443 }
    t.match(judgeAnswers([P], target, allowing('10.0.0.0/8')), { ok: true, listed: false })
    t.match(judgeAnswers([P, '10.0.0.1'], target, allowing('10.0.0.0/8')), { listed: true })
    t.match(judgeAnswers([P], target, allowing('hooks.example.com')), { listed: true })
    t.end()
  })

  t.end()
})

void t.test('own listeners are never targets, listed or not', (t) => {
  const policy = allowing('0.0.0.0/0,::/0,localhost,api.example.com', {
    ownHosts: ['127.0.0.1:8420', '[::1]:8421', 'api.example.com:443', '0.0.0.0:9999'],
  })
  const rows: readonly (readonly [string, readonly string[], 'accepted' | RefusalReason])[] = [
    ['http://127.0.0.1:8420/', [], 'own_listener'],
    ['http://[::ffff:127.0.0.1]:8420/', [], 'own_listener'],
    ['http://0.0.0.0:8420/', [], 'own_listener'],
    ['http://[::]:8420/', [], 'own_listener'],
    ['http://[::1]:8421/', [], 'own_listener'],
    ['http://localhost:8420/', ['127.0.0.1'], 'own_listener'],
    ['https://API.example.com./', [P], 'own_listener'],
    ['http://127.8.8.8:9999/', [], 'own_listener'],
    ['http://[::1]:9999/', [], 'own_listener'],
    ['http://127.0.0.1:8421/', [], 'accepted'],
    ['http://127.0.0.2:8420/', [], 'accepted'],
    ['http://10.0.0.1:9999/', [], 'accepted'],
    ['https://api.example.com:8443/', [P], 'accepted'],
  ]
  for (const [url, dns, expected] of rows) t.equal(judge(url, dns, policy), expected, url)
  t.end()
})

void t.test('sixteen answers are judged, seventeen refused', (t) => {
  const answers = Array.from({ length: 16 }, (_, index) => `8.8.8.${index}`)
  t.equal(judge('https://hooks.example.com/', answers), 'accepted')
  t.equal(judge('https://hooks.example.com/', [...answers, '8.8.4.4']), 'too_many_answers')
  const target = { hostname: 'hooks.example.com', port: 443 }
  t.match(judgeAnswers([P, P, P6], target, OPEN), { ok: true, addresses: [P, P6] })
  t.strictSame(judgeAnswers([], target, OPEN), { ok: false, reason: 'no_answer' })
  t.strictSame(
    judgeAnswers(['8.8.8.8.8'], target, allowing('hooks.example.com')),
    { ok: false, reason: 'address_malformed' },
    'whatever is listed',
  )
  t.end()
})

void t.test('every reason has a public sentence of one line', (t) => {
  for (const [reason, text] of Object.entries(REFUSALS)) {
    t.match(text, /^[A-Z][^\n]{10,110}\.$/, reason)
  }
  t.end()
})
