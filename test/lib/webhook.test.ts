import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { fromUtf8, toBase64 } from '../../lib/internal/bytes.ts'
import { parseJson } from '../../lib/internal/json.ts'
import { createEventId, isEventId, isEventType, serializeEvent } from '../../lib/webhook/event.ts'
import { brandNames, customHeaderProblem, deliveryHeaders } from '../../lib/webhook/headers.ts'
import { isFamily, matches } from '../../lib/webhook/match.ts'
import { isSecret, mintSecret, secretBytes, secretDisplay } from '../../lib/webhook/secret.ts'
import { signatureHeader, standardSignature } from '../../lib/webhook/sign.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const NOW = 1_700_000_000
const ENVELOPE = { id: 'evt_1', type: 'order.paid', created_at: NOW * 1000 }
const BODY = serializeEvent({ ...ENVELOPE, data: { total: 1 } })
const names = brandNames('service')

const zeros = (n: number): Uint8Array => new Uint8Array(n)
const ones = (n: number): Uint8Array => new Uint8Array(n).fill(255)
const anySecret = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((b) => `whsec_${toBase64(b)}`)
const anyData = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 })
const anyBody = anyData.map((data) => serializeEvent({ ...ENVELOPE, data }))

await t.test('event ids', async (t) => {
  await t.test('are 26 base32 digits, frozen for given bits', async (t) => {
    const counting = (n: number): Uint8Array => Uint8Array.from({ length: n }, (_, at) => at + 1)
    t.equal(createEventId(0, zeros), `evt_${'0'.repeat(26)}`)
    t.equal(createEventId(2 ** 48 - 1, ones), `evt_7${'z'.repeat(25)}`)
    t.equal(createEventId(1_469_922_850_259, counting), 'evt_01arz3ndek041061050r3gg28a')
  })
  await t.test(
    'sort by time whatever the random bits are, and are ids a caller may give',
    async () => {
      const anyInstant = fc.integer({ min: 0, max: 2 ** 48 - 2 })
      fc.assert(
        fc.property(anyInstant, fc.uint8Array({ minLength: 10, maxLength: 10 }), (now, bytes) => {
          const id = createEventId(now, () => bytes)
          return (
            id <= createEventId(now, ones) && id < createEventId(now + 1, zeros) && isEventId(id)
          )
        }),
      )
    },
  )
  await t.test('differ when any random bit differs', async (t) => {
    const ids = Array.from({ length: 80 }, (_, bit) =>
      createEventId(0, (n) => zeros(n).map((_, at) => (at === bit >> 3 ? 1 << (bit & 7) : 0))),
    )
    t.equal(new Set(ids).size, 80)
  })
  await t.test('refuse a time beyond 48 bits and randomness of another length', async (t) => {
    for (const now of [-1, 0.5, NaN, 2 ** 48]) t.throws(() => createEventId(now, zeros), TypeError)
    t.throws(() => createEventId(0, () => zeros(9)), TypeError)
  })
  await t.test('of a caller hold 1 to 64 letters, digits or underscores', async (t) => {
    for (const id of ['evt_a', 'evt_order_42', `evt_${'Z'.repeat(64)}`]) t.ok(isEventId(id), id)
    const wrong = [
      '',
      'evt_',
      `evt_${'Z'.repeat(65)}`,
      'evt_4.2',
      'evt_é',
      'evt_a\n',
      'EVT_a',
      'msg_a',
    ]
    for (const id of wrong) t.notOk(isEventId(id), id)
  })
})

await t.test('event types are 2 to 4 lower-case segments of at most 100 characters', async (t) => {
  const longest = `a.${'b'.repeat(98)}`
  for (const type of ['app.created', 'a.b.c.d', 'app.rolled_back', 'v2.x9', longest]) {
    t.ok(isEventType(type), type)
  }
  const wrong = ['', 'app', 'a.b.c.d.e', 'App.x', 'a..b', '.a.b', 'a.b.', 'a.9', 'a._b', 'a-b.c']
  for (const type of [...wrong, 'a.b\n', `${longest}b`]) t.notOk(isEventType(type), type)
})

await t.test('what a webhook subscribes to', async (t) => {
  const isBuiltIn = (type: string): boolean => type.startsWith('app.')
  const types = ['order.paid', 'order.line.added', 'orders.paid', 'app.deployed', 'app.deploy.done']
  const reached = (...events: readonly string[]): readonly string[] =>
    types.filter((type) => matches({ events, apps: null }, { type, app_id: null }, isBuiltIn))
  t.same(reached('order.paid'), ['order.paid'])
  t.same(reached('order.*'), ['order.paid', 'order.line.added'])
  t.same(reached('order.line.*'), ['order.line.added'])
  t.same(reached('*'), ['app.deployed', 'app.deploy.done'])
  t.same(reached('app.*', 'order.paid'), ['order.paid', 'app.deployed', 'app.deploy.done'])
  t.same(reached('order', 'order.', 'app.deploy', '*.paid'), [])
  const filtered = { events: ['*'], apps: ['a1'] }
  const appIds = ['a1', 'a2', null].filter((app_id) =>
    matches(filtered, { type: 'app.deployed', app_id }, isBuiltIn),
  )
  t.same(appIds, ['a1'])
  for (const family of ['order.*', 'order.line.*', 'a_1.b.c.*']) t.ok(isFamily(family), family)
  const none = ['*', '.*', 'order*', 'Order.*', 'order.**', '*.*', 'a.b.c.d.*', 'order.*\n', '']
  for (const text of none) t.notOk(isFamily(text), text)
})

await t.test('a serialised event', async (t) => {
  await t.test('has its four fields once, in order', async (t) => {
    const text =
      '{"id":"evt_1","type":"order.paid","created_at":"2023-11-14T22:13:20.000Z","data":{}}'
    t.equal(fromUtf8(serializeEvent({ ...ENVELOPE, data: {} })), text)
    t.equal(fromUtf8(serializeEvent({ ...ENVELOPE, data: '{}' })), text)
  })
  await t.test('keeps the text of the caller, byte for byte', async (t) => {
    const data = '{ "b": 1.50, "a": 1e400,\n"a": "\\u00e9é", "n": 12345678901234567890 }'
    const bytes = serializeEvent({ ...ENVELOPE, data })
    t.ok(fromUtf8(bytes).endsWith(`"data":${data}}`))
  })
  await t.test('parses back to what it was made of', async () => {
    fc.assert(
      fc.property(anyData, fc.boolean(), (data, isText) => {
        const given = isText ? JSON.stringify(data) : data
        const event = { ...ENVELOPE, created_at: new Date(ENVELOPE.created_at).toISOString(), data }
        const parsed: unknown = JSON.parse(fromUtf8(serializeEvent({ ...ENVELOPE, data: given })))
        return JSON.stringify(parsed) === JSON.stringify(JSON.parse(JSON.stringify(event)))
      }),
    )
  })
  await t.test('cannot be broken out of by an id or a type', async (t) => {
    const bytes = serializeEvent({ ...ENVELOPE, id: '","x":"', type: '"\\', data: {} })
    t.match(parseJson(fromUtf8(bytes)), { id: '","x":"', type: '"\\' })
  })
  await t.test('refuses data that has no JSON form', async (t) => {
    t.throws(() => serializeEvent({ ...ENVELOPE, data: () => 1 }), TypeError)
    t.throws(() => serializeEvent({ ...ENVELOPE, created_at: NaN, data: {} }), RangeError)
  })
})

await t.test('signing secrets', async (t) => {
  await t.test('are minted from 32 bytes, and read back', async (t) => {
    const secret = mintSecret(ones)
    t.equal(secret, `whsec_${'/'.repeat(42)}8=`)
    t.strictSame(secretBytes(secret), ones(32))
    t.throws(() => mintSecret(() => ones(31)), TypeError)
  })
  await t.test('hold 24 to 64 bytes', async () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const isGood = bytes.length >= 24 && bytes.length <= 64
        return isSecret(`whsec_${toBase64(bytes)}`) === isGood
      }),
    )
  })
  await t.test('that are malformed are refused without being repeated', async (t) => {
    const base = SECRET.slice(6)
    const wrong = ['', 'whsec_', base, `WHSEC_${base}`, `${SECRET}\n`, `${SECRET}=`, ` ${SECRET}`]
    for (const text of [...wrong, SECRET.slice(0, -1), `whsec_${'/'.repeat(42)}9=`]) {
      t.notOk(isSecret(text))
      t.throws(() => secretBytes(text), { name: 'TypeError', message: /^a signing secret is/ })
    }
  })
  await t.test('are shown by their first 10 characters', async (t) => {
    t.equal(secretDisplay(SECRET), 'whsec_MfKQ…')
  })
})

await t.test('signing', async (t) => {
  await t.test('the reference package of Standard Webhooks verifies what we sign', async () => {
    const seconds = Math.floor(Date.now() / 1000)
    fc.assert(
      fc.property(anyBody, anySecret, anySecret, (body, current, previous) => {
        const signature = standardSignature('evt_1', seconds, body, [current, previous])
        const headers = {
          'webhook-id': 'evt_1',
          'webhook-timestamp': String(seconds),
          'webhook-signature': signature,
        }
        const read = new Webhook(previous).verify(Buffer.from(body), headers) as { id: string }
        return read.id === 'evt_1'
      }),
    )
  })
  await t.test('a sender that misuses them gets a TypeError', async (t) => {
    for (const seconds of [1.5, -1, NaN]) {
      t.throws(() => signatureHeader(seconds, BODY, [SECRET]), TypeError)
    }
    t.throws(() => signatureHeader(NOW, BODY, []), TypeError)
    t.throws(() => standardSignature('evt.1', NOW, BODY, [SECRET]), TypeError)
    t.throws(() => standardSignature('', NOW, BODY, [SECRET]), TypeError)
    t.throws(() => standardSignature('evt_1', NOW, BODY, ['whsec_']), TypeError)
  })
})

await t.test('the names of a brand', async (t) => {
  await t.test('derive from it', async (t) => {
    t.strictSame(brandNames('service'), {
      keyPrefix: 'service_dk_',
      eventHeader: 'X-Service-Event',
      deliveryHeader: 'X-Service-Delivery-ID',
      signatureHeader: 'Service-Signature',
      userAgent: 'Service-Webhook/1.0',
      challengeLabel: '_service-challenge',
    })
  })
  await t.test('refuse a brand that is no lower-case word of at most 31 characters', async (t) => {
    t.equal(brandNames(`a${'9'.repeat(30)}`).keyPrefix.length, 35)
    for (const brand of ['', 'Acme', '9a', 'a-b', 'a_b', 'é', 'a\n', 'a'.repeat(32)]) {
      t.throws(() => brandNames(brand), TypeError, brand)
    }
  })
})

await t.test('the headers of a delivery', async (t) => {
  const attempt = {
    eventType: 'order.paid',
    eventId: 'evt_1',
    deliveryId: 'dlv_1',
    timestampSeconds: NOW,
    body: BODY,
    secrets: [SECRET, mintSecret(zeros)],
    standardHeaders: false,
    custom: {},
  }
  const branded = {
    'Content-Type': 'application/json',
    'User-Agent': 'Service-Webhook/1.0',
    'X-Service-Event': 'order.paid',
    'X-Service-Delivery-ID': 'dlv_1',
    'Service-Signature': signatureHeader(NOW, BODY, attempt.secrets),
  }
  await t.test('are ours, with one signature for each live secret', async (t) => {
    t.strictSame(deliveryHeaders(names, attempt), branded)
    t.match(branded['Service-Signature'], /^t=1700000000(?:,v1=[0-9a-f]{64}){2}$/)
  })
  await t.test('carry the standard ones beside when asked', async (t) => {
    t.strictSame(deliveryHeaders(names, { ...attempt, standardHeaders: true }), {
      ...branded,
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': standardSignature('evt_1', NOW, BODY, attempt.secrets),
    })
  })
  await t.test('put custom ones under ours', async (t) => {
    const custom = { 'X-Tenant': 'blue', 'Content-Type': 'text/plain', 'Service-Signature': 'x' }
    const headers = deliveryHeaders(names, { ...attempt, custom })
    t.strictSame(headers, { 'X-Tenant': 'blue', ...branded })
  })
})

await t.test('custom headers', async (t) => {
  await t.test('of a receiver are accepted', async (t) => {
    const good = [
      ['X-Tenant', 'blue'],
      ['Authorization', 'Bearer abc'],
      ["!#$%&'*+-.^_`|~09azAZ", 'tab\tand é ÿ'],
      ['x'.repeat(100), 'y'.repeat(1000)],
      ['X-Empty', ''],
    ] as const
    for (const [name, value] of good) t.equal(customHeaderProblem(name, value, names), undefined)
  })
  await t.test(
    'V26: are refused with line breaks, controls, beyond Latin-1, or too long',
    async (t) => {
      const values = [
        'a\r\nX: y',
        'a\n',
        '\r',
        'a\0',
        '\x7f',
        'Ā',
        '🎉',
        ' a',
        'a\t',
        'y'.repeat(1001),
      ]
      for (const value of values)
        t.match(customHeaderProblem('X-A', value, names), /^A header value/)
      const wrong = ['', 'a b', 'a:', 'a\n', 'é', '(a)', ':authority', 'x'.repeat(101)]
      for (const name of wrong) t.match(customHeaderProblem(name, 'v', names), /^A header name/)
    },
  )
  await t.test(
    'V27: are refused when they are ours, of the framing or of the connection',
    async (t) => {
      const ours = [
        ...Object.values(names).slice(1, 4),
        'User-Agent',
        'webhook-id',
        'Webhook-Other',
      ]
      const framing = [
        'Host',
        'Content-Length',
        'CONTENT-TYPE',
        'Transfer-Encoding',
        'Trailer',
        'TE',
      ]
      const hops = ['Connection', 'Keep-Alive', 'Upgrade', 'Proxy-Authorization', 'Expect']
      for (const name of [...ours, ...framing, ...hops, 'Accept-Encoding']) {
        t.equal(customHeaderProblem(name, 'v', names), 'This header is set by the sender.', name)
      }
      t.equal(customHeaderProblem('Service-Signature', 'v', brandNames('acme')), undefined)
    },
  )
})

await t.test('secrets have 24 to 64 bytes', async (t) => {
  const secretOf = (bytes: number): string => `whsec_${toBase64(zeros(bytes))}`
  const rows = [23, 24, 64, 65].map((bytes) => [bytes, isSecret(secretOf(bytes))])
  t.same(rows, [
    [23, false],
    [24, true],
    [64, true],
    [65, false],
  ])
})

await t.test('misuse is reported by what was wrong', async (t) => {
  t.match(signatureHeader(0, BODY, [SECRET]), /^t=0,v1=/)
  t.throws(() => mintSecret(() => zeros(31)), { message: /32 bytes/ })
  t.throws(() => signatureHeader(-1, BODY, [SECRET]), { message: /whole seconds/ })
  t.throws(() => signatureHeader(NOW, BODY, []), { message: /one secret/ })
  t.throws(() => standardSignature('a.b', NOW, BODY, [SECRET]), { message: /no dot/ })
})
