import t from 'tap'
import { createNameLookup } from '../../plugins/egress/resolve.ts'
import type { NameLookup } from '../../plugins/egress/contract.ts'
import type { DnsServer, Fault } from '../support/dns.ts'
import { startDns } from '../support/dns.ts'

/** Of the lookups: a server that says nothing is given up soon. */
const TIMEOUT = 100

async function open(
  t: Parameters<typeof startDns>[0],
): Promise<{ readonly dns: DnsServer; readonly names: NameLookup }> {
  const dns = await startDns(t)
  return { dns, names: createNameLookup({ servers: [dns.address], timeout: TIMEOUT }) }
}

await t.test('texts are read whole, each by itself', async (t) => {
  const { dns, names } = await open(t)
  const long = 'x'.repeat(600)
  dns.set('_a.example.com', { txt: ['one', long, 'a "quoted" one', ''] })
  t.same(
    [...((await names.texts('_a.example.com')) ?? [])].sort(),
    ['', 'a "quoted" one', long, 'one'].sort(),
  )
  t.same(dns.asked, ['TXT _a.example.com'], 'once, and as it stands')
})

await t.test('aliases are told in lower case, and addresses of both families', async (t) => {
  const { dns, names } = await open(t)
  dns.set('shop.example.com', { cname: 'Apps.EXAMPLE.net' })
  dns.set('apps.example.net', { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8:0:0:0:0:0:1'] })
  t.same(await names.aliases('shop.example.com'), ['apps.example.net'])
  t.same(await names.aliases('apps.example.net'), [])
  const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1']
  t.same(await names.addresses('apps.example.net'), addresses)
  t.same(await names.addresses('shop.example.com'), addresses, 'through what it stands for')
})

await t.test('a name without such records, or that there is not, has none', async (t) => {
  const { dns, names } = await open(t)
  dns.set('shop.example.com', { a: ['192.0.2.1'] })
  for (const name of ['shop.example.com', 'nowhere.example.com']) {
    t.same(await names.texts(name), [], name)
    t.same(await names.aliases(name), [], name)
  }
  t.same(await names.addresses('nowhere.example.com'), [])
})

const FAULTS: readonly Fault[] = [
  'servfail',
  'refused',
  'silent',
  'wrong id',
  'wrong question',
  'truncated',
  'garbage',
]

for (const fault of FAULTS) {
  await t.test(`a server's answer is none when it is: ${fault}`, async (t) => {
    const { dns, names } = await open(t)
    const records = { txt: ['one'], a: ['192.0.2.1'] }
    dns.set('shop.example.com', records, fault)
    dns.set('alias.example.com', { cname: 'apps.example.net' }, fault)
    const began = performance.now()
    t.equal(await names.texts('shop.example.com'), undefined)
    t.equal(await names.addresses('shop.example.com'), undefined)
    t.equal(await names.aliases('alias.example.com'), undefined)
    // Each question takes four times the timeout at most, and a machine under load a little longer.
    t.ok(performance.now() - began < 3 * 4 * TIMEOUT + 2000, 'and it is given up soon')
    dns.set('shop.example.com', records)
    t.same(await names.texts('shop.example.com'), ['one'], 'what came before does no harm')
  })
}

await t.test('a forged answer before the true one is passed over', async (t) => {
  const { dns, names } = await open(t)
  dns.set('_a.example.com', { txt: ['true'] }, 'forged first')
  t.same(await names.texts('_a.example.com'), ['true'])
})

await t.test('one family that is not answered leaves all addresses unknown', async (t) => {
  const { dns, names } = await open(t)
  const records = { a: ['192.0.2.1'] }
  dns.set('shop.example.com', records)
  t.same(await names.addresses('shop.example.com'), ['192.0.2.1'])
  for (const fault of ['silent', 'servfail'] as const) {
    dns.set('shop.example.com', records, fault, 'AAAA')
    t.equal(await names.addresses('shop.example.com'), undefined, fault)
  }
})

await t.test('an answer of more records than anybody needs is none', async (t) => {
  const { dns, names } = await open(t)
  const texts = (count: number) => Array.from({ length: count }, (_, at) => String(at))
  dns.set('_a.example.com', { txt: texts(64) })
  t.equal((await names.texts('_a.example.com'))?.length, 64)
  dns.set('_a.example.com', { txt: texts(65) })
  t.equal(await names.texts('_a.example.com'), undefined)
})

await t.test('names that lead nowhere in public are not asked for', async (t) => {
  const { dns, names } = await open(t)
  for (const name of ['', 'localhost', 'printer', 'db.internal', 'a..b', '127.0.0.1', 'a b.com']) {
    t.equal(await names.texts(name), undefined, name)
    t.equal(await names.addresses(name), undefined, name)
  }
  t.same(dns.asked, [])
})
