import fc from 'fast-check'
import t from 'tap'
import { z } from 'zod'
import type { Price } from '../../daemon/billing/prices.ts'
import {
  DEFAULT_PRICES,
  costOf,
  creditExpiry,
  printVersion,
  readPrices,
} from '../../daemon/billing/prices.ts'
import {
  amountOf,
  givenAmount,
  printMicros,
  readMicros,
  withAmount,
} from '../../daemon/billing/money.ts'
import { DAY } from '../../lib/time.ts'

const MAX = Number.MAX_SAFE_INTEGER

const price = (price_micros: number, per = 1, minimum_micros = 0): Price => ({
  price_micros,
  per,
  minimum_micros,
})

const COSTS: readonly (readonly [what: string, Price, quantity: number, cost: number])[] = [
  ['one unit', price(100_000), 1, 100_000],
  ['nothing, also where there is a minimum', price(100, 1, 1000), 0, 0],
  ['a free operation', price(0), 7, 0],
  ['below the minimum', price(20_000, 1_048_576, 1000), 1024, 1000],
  ['at the minimum', price(1, 1, 1000), 1000, 1000],
  ['above the minimum', price(1, 1, 1000), 1001, 1001],
  ['a half is rounded up', price(1, 2), 1, 1],
  ['a half is rounded up, once', price(1, 2), 3, 2],
  ['less than a half is rounded down', price(1, 3), 1, 0],
  ['more than a half is rounded up', price(2, 3), 1, 1],
  [
    'exact although the product is beyond 2^53',
    price(3_000_000_001, 1_000_000),
    3_000_000_001,
    9_000_000_006_000,
  ],
  ['2^53 - 1', price(1), MAX, MAX],
  ['more than 2^53 - 1 is 2^53 - 1', price(2), MAX, MAX],
  ['far more too', price(MAX), MAX, MAX],
  ['what is divided again', price(MAX, MAX), MAX, MAX],
]

await t.test('a cost is rounded once, and never beyond what a number holds', async (t) => {
  for (const [what, priced, quantity, cost] of COSTS) t.equal(costOf(priced, quantity), cost, what)
  for (const quantity of [-1, 0.5, 2 ** 53, NaN, Infinity]) {
    t.throws(() => costOf(price(1), quantity), RangeError, String(quantity))
  }
  const amounts = fc.integer({ min: 0, max: MAX })
  const counts = fc.integer({ min: 1, max: MAX })
  fc.assert(
    fc.property(amounts, counts, amounts, counts, (each, per, minimum, quantity) => {
      const cost = costOf(price(each, per, minimum), quantity)
      const twice = 2n * BigInt(quantity) * BigInt(each)
      // Half up: 2c - 1 <= 2x / per < 2c + 1, unless a bound of the range decides.
      const isRounded =
        (2n * BigInt(cost) - 1n) * BigInt(per) <= twice &&
        twice < (2n * BigInt(cost) + 1n) * BigInt(per)
      return (
        Number.isSafeInteger(cost) &&
        cost >= minimum &&
        (isRounded || cost === minimum || cost === MAX)
      )
    }),
  )
})

const VERSION = {
  version: '2026-12',
  effective_at: '2026-12-01T00:00:00Z',
  plans: { pro: { price_micros: 25_000_000, monthly_credit_micros: 25_000_000 } },
  topup: { min_micros: 5_000_000, max_micros: 1_000_000_000 },
  operations: {
    'apps.create': { meter: 'apps', price_micros: 500_000, per: 1 },
    'edits.create': { meter: 'edits', price_micros: 100_000, per: 1 },
    'files.upload': { meter: 'bytes', price_micros: 20_000, per: 1_048_576, minimum_micros: 1000 },
    'shop.reports.render': { meter: 'pages', price_micros: 7, per: 1 },
  },
}

const fileOf = (...versions: readonly object[]): string => JSON.stringify({ versions })

await t.test('a price file has versions, of which the latest that has begun applies', async (t) => {
  const later = { ...VERSION, version: '2027-01', effective_at: '2027-01-01T00:00:00Z' }
  const prices = readPrices(fileOf(VERSION, later))
  const at = (text: string): string => prices.at(Date.parse(text)).version
  t.equal(at('2026-12-31T23:59:59.999Z'), '2026-12')
  t.equal(at('2027-01-01T00:00:00.000Z'), '2027-01')
  t.equal(at('2026-11-30T00:00:00.000Z'), '2026-12', 'a clock that is behind finds a price too')
  t.equal(DEFAULT_PRICES.at(0).version, 'default-1')
  const { operations } = DEFAULT_PRICES.at(0)
  t.same(Object.keys(operations).sort(), ['apps.create', 'edits.create', 'files.upload'])
})

await t.test('monthly credit expires only where the file says so', async (t) => {
  const now = Date.UTC(2026, 11, 5)
  const [plain] = readPrices(fileOf(VERSION)).versions
  const pro = { ...VERSION.plans.pro, credit_expires_days: 62 }
  const [expiring] = readPrices(fileOf({ ...VERSION, plans: { pro } })).versions
  t.ok(plain && expiring)
  t.equal(plain && creditExpiry(plain, now), null)
  t.equal(expiring && creditExpiry(expiring, now), now + 62 * DAY)
})

/** Changes one operation of the version. */
const withOperation = (changes: object) => ({
  ...VERSION,
  operations: {
    ...VERSION.operations,
    'edits.create': { ...VERSION.operations['edits.create'], ...changes },
  },
})
const { 'edits.create': _, ...withoutEdits } = VERSION.operations

const REFUSED: readonly (readonly [what: string, text: string, RegExp])[] = [
  ['no JSON', '{', /not JSON/],
  ['no version', fileOf(), /versions/],
  ['an unknown field', fileOf({ ...VERSION, note: 'x' }), /versions\[0\]\.note: Unknown name/],
  ['an unknown field of a price', fileOf(withOperation({ prise: 1 })), /edits\.create\.prise/],
  ['a negative price', fileOf(withOperation({ price_micros: -1 })), /price_micros/],
  ['a fraction', fileOf(withOperation({ price_micros: 0.5 })), /price_micros/],
  ['2^53', fileOf(withOperation({ price_micros: 2 ** 53 })), /price_micros/],
  ['text', fileOf(withOperation({ price_micros: '1' })), /price_micros/],
  ['per nothing', fileOf(withOperation({ per: 0 })), /per/],
  ['a negative minimum', fileOf(withOperation({ minimum_micros: -1 })), /minimum_micros/],
  [
    'an operation of ours without a price',
    fileOf({ ...VERSION, operations: withoutEdits }),
    /edits\.create: Has no price/,
  ],
  [
    'a name that is no operation',
    fileOf({
      ...VERSION,
      operations: { ...VERSION.operations, Edits: VERSION.operations['apps.create'] },
    }),
    /operations/,
  ],
  ['no instant', fileOf({ ...VERSION, effective_at: '2026-02-30T00:00:00Z' }), /effective_at/],
  ['a range upside down', fileOf({ ...VERSION, topup: { min_micros: 2, max_micros: 1 } }), /topup/],
  [
    'two that begin at once',
    fileOf(VERSION, { ...VERSION, version: 'b' }),
    /b must begin after 2026-12/,
  ],
  [
    'one version twice',
    fileOf(VERSION, { ...VERSION, effective_at: '2027-01-01T00:00:00Z' }),
    /2026-12 is listed twice/,
  ],
]

await t.test('a price file with a mistake is refused, and says where it is', async (t) => {
  t.equal(readPrices(fileOf(VERSION)).versions.length, 1)
  for (const [what, text, message] of REFUSED) t.throws(() => readPrices(text), message, what)
})

await t.test('the digest of a version changes with any price, and with nothing else', async (t) => {
  const digest = (version: object): string => {
    const [read] = readPrices(fileOf(version)).versions
    return read === undefined ? '' : printVersion(read).sha256
  }
  const reordered = Object.fromEntries(Object.entries(VERSION).reverse())
  t.equal(digest(reordered), digest(VERSION))
  t.equal(digest(withOperation({ minimum_micros: 0 })), digest(VERSION), 'a default in full')
  t.not(digest(withOperation({ price_micros: 100_001 })), digest(VERSION))
})

const PRINTED: readonly (readonly [micros: number, text: string])[] = [
  [0, '0.00'],
  [1, '0.000001'],
  [-100_000, '-0.10'],
  [12_340_000, '12.34'],
  [12_345_000, '12.345'],
  [25_000_000, '25.00'],
  [MAX, '9007199254.740991'],
  [-MAX, '-9007199254.740991'],
]

await t.test('an amount is printed exactly, and read back', async (t) => {
  for (const [micros, text] of PRINTED) {
    t.equal(printMicros(micros), text)
    if (micros >= 0) t.equal(readMicros(text), micros)
  }
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: MAX }),
      (micros) => readMicros(printMicros(micros)) === micros,
    ),
  )
  t.equal(readMicros('9007199254.740992'), undefined)
  t.equal(readMicros('0.1'), 100_000)
})

const body = withAmount(z.strictObject(givenAmount))
const GIVEN: readonly (readonly [given: object, micros: number | undefined | 'invalid'])[] = [
  [{ amount: '10.00' }, 10_000_000],
  [{ amount: '0.000001' }, 1],
  [{ amount_micros: 1 }, 1],
  [{ amount_micros: MAX }, MAX],
  [{ amount: '0' }, undefined],
  [{ amount: '0.000000' }, undefined],
  [{ amount: '9007199254.740992' }, undefined],
  [{ amount_micros: 0 }, 'invalid'],
  [{ amount_micros: -1 }, 'invalid'],
  [{ amount_micros: 0.5 }, 'invalid'],
  [{ amount_micros: 2 ** 53 }, 'invalid'],
  [{ amount_micros: '1' }, 'invalid'],
  [{ amount: '-1' }, 'invalid'],
  [{ amount: '0.0000001' }, 'invalid'],
  [{ amount: '1e3' }, 'invalid'],
  [{ amount: '01' }, 'invalid'],
  [{ amount: '1.' }, 'invalid'],
  [{ amount: ' 1' }, 'invalid'],
  [{ amount: 1 }, 'invalid'],
  [{}, 'invalid'],
  [{ amount: '1', amount_micros: 1_000_000 }, 'invalid'],
]

await t.test('a given amount is one of two fields', async (t) => {
  for (const [given, expected] of GIVEN) {
    const read = body.safeParse(given)
    t.equal(read.success ? amountOf(read.data) : 'invalid', expected, JSON.stringify(given))
  }
})
