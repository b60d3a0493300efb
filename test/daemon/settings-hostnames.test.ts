import t from 'tap'
import { isPublicSuffix, readHostname } from '../../daemon/families/settings/domains/hostname.ts'
import { parseNameServers } from '../../daemon/config/values.ts'
import { codeOf } from '../support/answer.ts'
import { openSettings } from '../support/app-settings.ts'

const OWN = ['api.example.com', 'apps.example.net']

const codeOfName = (text: string): string => {
  try {
    return readHostname(text, OWN)
  } catch (cause) {
    return String((cause as { code?: unknown }).code)
  }
}

await t.test('a hostname has one form', async (t) => {
  const forms = {
    'shop.example.com': 'shop.example.com',
    'SHOP.Example.COM': 'shop.example.com',
    'shop.example.com.': 'shop.example.com',
    'größe.example.com': 'xn--gre-6ka8i.example.com',
    'GRÖSSE.example.com': 'xn--grsse-kua.example.com',
    'xn--gre-6ka8i.example.com': 'xn--gre-6ka8i.example.com',
    'shop。example。com': 'shop.example.com',
    'ｓｈｏｐ.example.com': 'shop.example.com',
    'example.co.uk': 'example.co.uk',
    'a.b.c.d.example.com': 'a.b.c.d.example.com',
    '1.example.com': '1.example.com',
    'net.example.com': 'net.example.com',
    'example.net': 'example.net',
    'notapps.example.net': 'notapps.example.net',
    'shop.github.io': 'shop.github.io',
    [`${'a'.repeat(63)}.example.com`]: `${'a'.repeat(63)}.example.com`,
  }
  for (const [given, kept] of Object.entries(forms)) t.equal(codeOfName(given), kept, given)
})

await t.test('what is no hostname is refused, and so is what is nobody’s to have', async (t) => {
  const invalid = [
    '',
    '.',
    '..',
    ' ',
    'shop example.com',
    ' shop.example.com',
    'shop..example.com',
    '.example.com',
    'shop.example.com..',
    '-shop.example.com',
    'shop-.example.com',
    'sh_op.example.com',
    '*.example.com',
    'https://shop.example.com',
    'shop.example.com/',
    'shop.example.com:443',
    'shop.example.com?x',
    'shop.example.com#x',
    'user@shop.example.com',
    'shop\\.example.com',
    'shop%2eexample.com',
    'shop\0.example.com',
    'shop\n.example.com',
    'xn--a.example.com',
    'shop.example.1',
    'sh\u202eop.example.com',
    '\ud800.example.com',
    `${'a'.repeat(64)}.example.com`,
    `${'a.'.repeat(127)}com`,
  ]
  for (const name of invalid) t.equal(codeOfName(name), 'invalid_hostname', JSON.stringify(name))
  const reserved = [
    'localhost',
    'shop',
    'shop.',
    'com',
    'shop.localhost',
    'printer.local',
    'db.internal',
    'shop.test',
    'shop.onion',
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '192.0.2.1',
    '::1',
    '[::1]',
    '2001:db8::1',
    'api.example.com',
    'API.example.com.',
    'shop.api.example.com',
    'apps.example.net',
    'shop.apps.example.net',
    'co.uk',
    'com.au',
    'github.io',
    'pages.dev',
  ]
  for (const name of reserved) t.equal(codeOfName(name), 'reserved_hostname', name)
})

await t.test('names that many share are told from those below them', async (t) => {
  for (const name of ['co.uk', 'or.at', 'gov.br', 'netlify.app', 'co.com']) {
    t.ok(isPublicSuffix(name), name)
  }
  for (const name of ['example.uk', 'co.example.uk', 'uk.co', 'x.netlify.app']) {
    t.notOk(isPublicSuffix(name), name)
  }
})

await t.test('the API says where the fault is, and nothing of what it refuses', async (t) => {
  const { ask, baseUrl } = await openSettings(t)
  const claim = (hostname: unknown) => ask('POST', 'domains', { body: { hostname } })
  t.match(await claim('shop..example.com'), {
    status: 400,
    body: {
      error: {
        code: 'invalid_hostname',
        errors: [{ location: 'body.hostname', code: 'invalid_hostname' }],
      },
    },
  })
  t.equal(codeOf(await claim(new URL(baseUrl).hostname)), '400 reserved_hostname')
  t.equal(codeOf(await claim('shop.apps.example.net')), '400 reserved_hostname')
  for (const wrong of [null, 7, '', 'x'.repeat(301)]) {
    t.equal(codeOf(await claim(wrong)), '400 invalid_request', String(wrong).slice(0, 9))
  }
})

await t.test('name servers are addresses, each with a port of its own or none', async (t) => {
  const fine: Readonly<Record<string, readonly string[]>> = {
    '': [],
    '192.0.2.1': ['192.0.2.1'],
    ' 192.0.2.1 , 192.0.2.2:5353,': ['192.0.2.1', '192.0.2.2:5353'],
    '::1,[2001:db8::1]:53,[::1]': ['::1', '[2001:db8::1]:53', '[::1]'],
  }
  for (const [text, servers] of Object.entries(fine)) t.same(parseNameServers(text), servers, text)
  const wrong = [
    'dns.example.com',
    '192.0.2.1:0',
    '192.0.2.1:65536',
    '192.0.2.1:port',
    '192.0.2.1/24',
    '192.0.2',
    '192.0.2.1 192.0.2.2',
    '[::1',
    ':53',
    'https://192.0.2.1/dns-query',
  ]
  for (const text of wrong) t.throws(() => parseNameServers(text), /must be addresses/, text)
})
