import { createHmac } from 'node:crypto'
import t from 'tap'
import { hmacSha256 } from '../../lib/webhook/hmac.ts'

const bytes = (length: number, value: number): Buffer => Buffer.alloc(length, value)
const text = (value: string): Buffer => Buffer.from(value)

/** RFC 4231, sections 4.2 to 4.8; that of 4.6 is cut short there. */
const VECTORS: readonly (readonly [string, Uint8Array, Uint8Array, string])[] = [
  [
    '4.2',
    bytes(20, 0x0b),
    text('Hi There'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  ],
  [
    '4.3',
    text('Jefe'),
    text('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    '4.4',
    bytes(20, 0xaa),
    bytes(50, 0xdd),
    '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
  ],
  [
    '4.5',
    Uint8Array.from({ length: 25 }, (_, at) => at + 1),
    bytes(50, 0xcd),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  ],
  [
    '4.7',
    bytes(131, 0xaa),
    text('Test Using Larger Than Block-Size Key - Hash Key First'),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    '4.8',
    bytes(131, 0xaa),
    text(
      'This is a test using a larger than block-size key and a larger than block-size data.' +
        ' The key needs to be hashed before being used by the HMAC algorithm.',
    ),
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  ],
]

await t.test('HMAC-SHA256 of what RFC 4231 names', async (t) => {
  for (const [section, key, data, mac] of VECTORS) {
    t.equal(hmacSha256(key, '', data, 'hex'), mac, section)
  }
})

await t.test('HMAC-SHA256 as Node makes it, whatever the lengths', async (t) => {
  const body = Uint8Array.from({ length: 70_000 }, (_, at) => at % 251)
  const wrong: string[] = []
  for (const keyLength of [0, 1, 63, 64, 65, 200]) {
    for (const prefix of ['', '1700000000.', 'evt_ü€😀.1.', '€', 'x'.repeat(70_000)]) {
      for (const length of [0, 1, 63, 64, 65, 65_524, 65_525, 65_526, 65_536, 70_000]) {
        const key = bytes(keyLength, 0x5c)
        const part = body.subarray(0, length)
        for (const encoding of ['hex', 'base64'] as const) {
          const theirs = createHmac('sha256', key).update(prefix).update(part).digest(encoding)
          const name = `${keyLength} ${prefix.length} ${length} ${encoding}`
          if (hmacSha256(key, prefix, part, encoding) !== theirs) wrong.push(name)
        }
      }
    }
  }
  t.same(wrong, [])
})

await t.test('HMAC-SHA256 takes a key as text in UTF-8', async (t) => {
  const key = 'ü€😀'
  const mac = createHmac('sha256', key).update('1.').update('{}').digest('hex')
  t.equal(hmacSha256(key, '1.', text('{}'), 'hex'), mac)
})
