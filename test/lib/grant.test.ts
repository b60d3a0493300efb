import fc from 'fast-check'
import t from 'tap'
import type { Authority, Pins } from '../../lib/grant/authority.ts'
import {
  FULL_AUTHORITY,
  effectiveAuthority,
  holdsApp,
  meetAuthority,
  meetPins,
  printPins,
  readPins,
  withinPins,
} from '../../lib/grant/authority.ts'
import {
  MAX_DEPTH,
  exceeds,
  inheritExpiry,
  inheritPins,
  refuseDelegation,
} from '../../lib/grant/delegate.ts'
import { canonical, printScopes, readScopes } from '../../lib/scope/canonical.ts'

const pinned = (...apps: readonly string[]): Pins => new Set(apps)
const authority = (scopes: string, pins: Pins = 'all', expiresAt: number | null = null) => ({
  scopes: canonical(readScopes(scopes)),
  pins,
  expires_at: expiresAt,
})
const print = (one: Authority): string =>
  `${printScopes(one.scopes)} | ${printPins(one.pins)} | ${one.expires_at}`
const same = (a: Authority, b: Authority): boolean => print(a) === print(b)

const anyScopes = fc
  .subarray([...readScopes('*:* *:read apps:* apps:read apps:write keys:* keys:read keys:write')])
  .map(canonical)
const anyPins: fc.Arbitrary<Pins> = fc.oneof(
  fc.constant<Pins>('all'),
  fc.subarray(['a1', 'a2', 'a3']).map((apps) => new Set(apps)),
)
const anyAuthority: fc.Arbitrary<Authority> = fc.record({
  scopes: anyScopes,
  pins: anyPins,
  expires_at: fc.option(fc.integer({ min: 1, max: 4 })),
})
const isWithin = (inner: Authority, outer: Authority): boolean =>
  exceeds(outer, inner) === undefined

await t.test('pins', async (t) => {
  await t.test('the truth table of one within another', async (t) => {
    const columns: readonly Pins[] = ['all', pinned('a1', 'a2'), pinned('a1'), pinned()]
    const rows: readonly (readonly [Pins, string])[] = [
      ['all', 'x...'],
      [pinned('a1', 'a2'), 'xx..'],
      [pinned('a1'), 'xxx.'],
      [pinned('a2'), 'xx..'],
      [pinned('a3'), 'x...'],
      [pinned(), 'xxxx'],
    ]
    for (const [inner, row] of rows) {
      const found = columns.map((outer) => (withinPins(inner, outer) ? 'x' : '.')).join('')
      t.equal(found, row, String(printPins(inner)))
    }
  })
  await t.test('that share nothing hold no app, never all of them', async (t) => {
    const none = meetPins(pinned('a1'), pinned('a2'))
    t.strictSame(none, new Set())
    t.equal(holdsApp(none, 'a1'), false)
    t.strictSame(readPins(printPins(none)), new Set())
  })
  await t.test('hold an app exactly when both sides of a meet do', async () => {
    fc.assert(
      fc.property(anyPins, anyPins, fc.constantFrom('a1', 'a2', 'a4'), (a, b, app) => {
        return holdsApp(meetPins(a, b), app) === (holdsApp(a, app) && holdsApp(b, app))
      }),
    )
  })
  await t.test('are stored sorted, all as null', async (t) => {
    t.equal(printPins('all'), null)
    t.equal(printPins(pinned('b', 'a"', 'c')), '["a\\"","b","c"]')
    t.equal(readPins(null), 'all')
    t.strictSame(readPins('["a","b"]'), pinned('a', 'b'))
    fc.assert(
      fc.property(anyPins, (pins) => printPins(readPins(printPins(pins))) === printPins(pins)),
    )
  })
})

await t.test('the meet of authorities', async (t) => {
  await t.test(
    'is commutative, associative, idempotent, with full authority as its unit',
    async () => {
      fc.assert(
        fc.property(anyAuthority, anyAuthority, anyAuthority, (a, b, c) => {
          return (
            same(meetAuthority(a, b), meetAuthority(b, a)) &&
            same(meetAuthority(meetAuthority(a, b), c), meetAuthority(a, meetAuthority(b, c))) &&
            same(meetAuthority(a, a), a) &&
            same(meetAuthority(a, FULL_AUTHORITY), a)
          )
        }),
      )
    },
  )
  await t.test('is the greatest lower bound', async () => {
    fc.assert(
      fc.property(anyAuthority, anyAuthority, anyAuthority, (a, b, other) => {
        const meet = meetAuthority(a, b)
        const below = isWithin(other, a) && isWithin(other, b)
        return isWithin(meet, a) && isWithin(meet, b) && below === isWithin(other, meet)
      }),
    )
  })
})

await t.test('effective authority', async (t) => {
  const anyChain = fc.array(anyAuthority, { minLength: 1, maxLength: MAX_DEPTH })

  await t.test('only shrinks along a chain', async () => {
    fc.assert(
      fc.property(anyChain, anyAuthority, (chain, child) => {
        const effective = effectiveAuthority([...chain, child])
        return (
          isWithin(effective, effectiveAuthority(chain)) &&
          [...chain, child].every((link) => isWithin(effective, link))
        )
      }),
    )
  })
  await t.test('narrowing any link narrows the end, or leaves it', async () => {
    fc.assert(
      fc.property(anyChain, fc.nat(), anyAuthority, (chain, at, cut) => {
        const link = at % chain.length
        const narrowed = chain.map((one, index) => (index === link ? meetAuthority(one, cut) : one))
        return isWithin(effectiveAuthority(narrowed), effectiveAuthority(chain))
      }),
    )
  })
  await t.test(
    'of a key made within its maker is its own, until the maker is narrowed',
    async (t) => {
      const child = authority('apps:read', pinned('a1'), 50)
      t.strictSame(effectiveAuthority([authority('*:read', 'all', 90), child]), child)
      t.strictSame(
        effectiveAuthority([authority('keys:*', pinned('a2'), 10), child]),
        authority('', pinned(), 10),
      )
    },
  )
  await t.test('of a root is its own, and of no key is misuse', async (t) => {
    const root = authority('apps:*', pinned('a1'), 7)
    t.strictSame(effectiveAuthority([root]), root)
    t.throws(() => effectiveAuthority([]), TypeError)
  })
})

await t.test('what an asked authority has beyond its holder', async (t) => {
  await t.test('is nothing exactly when their meet is what was asked', async () => {
    fc.assert(
      fc.property(anyAuthority, anyAuthority, (holder, asked) => {
        return isWithin(asked, holder) === same(meetAuthority(holder, asked), asked)
      }),
    )
  })
  await t.test('is named in full', async (t) => {
    const holder = authority('apps:* keys:write', pinned('a1', 'a2'), 100)
    const rows = [
      [authority('*:read apps:read', pinned('a1'), 100), { scopes: ['*:read'] }],
      [authority('keys:read keys:write', pinned('a1'), 100), { scopes: ['keys:read'] }],
      [authority('apps:read', pinned('a1', 'a3', 'a4'), 99), { apps: ['a3', 'a4'] }],
      [authority('apps:read', 'all', 99), { apps: 'all' }],
      [authority('apps:read', pinned('a1'), 101), { expires_at: true }],
      [authority('apps:read', pinned('a1'), null), { expires_at: true }],
      [authority('*:*', 'all', null), { scopes: ['*:*'], apps: 'all', expires_at: true }],
    ] as const
    for (const [asked, beyond] of rows) {
      t.strictSame(exceeds(holder, asked), { scopes: [], apps: [], expires_at: false, ...beyond })
    }
    t.equal(exceeds(holder, authority('apps:read', pinned('a1'), 100)), undefined)
  })
})

await t.test('delegation', async (t) => {
  const lacking = (held: string, asked: string): readonly string[] =>
    exceeds(authority(held), authority(asked))?.scopes ?? []

  await t.test('gives only scopes that the minter holds', async (t) => {
    const rows = [
      ['apps:*', '*:read', ['*:read']],
      ['*:read', 'apps:*', ['apps:*']],
      ['*:read', 'apps:read', []],
      ['*:read keys:write', '*:*', ['*:*']],
      ['*:read keys:write', 'apps:write', ['apps:write']],
      ['apps:read', 'apps:*', ['apps:*']],
      ['*:*', '*:* apps:read', []],
      ['keys:write', 'keys:write', []],
      ['keys:write', 'keys:read', ['keys:read']],
      ['apps:* keys:* webhooks:*', '*:*', ['*:*']],
    ] as const
    for (const [held, asked, beyond] of rows) {
      t.strictSame(lacking(held, asked), beyond, `${held} gives ${asked}`)
    }
  })
  await t.test('beyond the holder is scope_not_delegable, with what is uncovered', async (t) => {
    const holder = authority('apps:*', pinned('a1'), 100)
    t.throws(() => refuseDelegation(holder, authority('apps:read keys:read', 'all', null)), {
      code: 'scope_not_delegable',
      status: 403,
      details: {
        uncovered_scopes: ['keys:read'],
        uncovered_apps: 'all',
        expires_at_beyond: true,
      },
    })
    t.doesNotThrow(() => refuseDelegation(holder, holder))
    t.doesNotThrow(() => refuseDelegation(FULL_AUTHORITY, authority('*:*')))
  })
  await t.test(
    'absent pins are the minter’s; an empty list is misuse, never every app',
    async (t) => {
      t.strictSame(inheritPins(undefined, pinned('a1')), pinned('a1'))
      t.equal(inheritPins(undefined, 'all'), 'all')
      t.strictSame(inheritPins(['a1', 'a1'], pinned('a1', 'a2')), pinned('a1'))
      t.strictSame(inheritPins(['a9'], pinned('a1')), pinned('a9'))
      t.throws(() => inheritPins([], 'all'), TypeError)
    },
  )
  await t.test('a missing expiry is the minter’s; never is asked for by null', async (t) => {
    t.equal(inheritExpiry(undefined, 100), 100)
    t.equal(inheritExpiry(undefined, null), null)
    t.equal(inheritExpiry(50, 100), 50)
    t.equal(inheritExpiry(null, 100), null)
    t.equal(
      exceeds(authority('*:*', 'all', 100), authority('*:*', 'all', inheritExpiry(null, 100)))
        ?.expires_at,
      true,
    )
  })
  await t.test('whatever is asked, what absence inherits is within the minter', async () => {
    fc.assert(
      fc.property(anyAuthority, anyScopes, (minter, scopes) => {
        const asked = {
          scopes,
          pins: inheritPins(undefined, minter.pins),
          expires_at: inheritExpiry(undefined, minter.expires_at),
        }
        const beyond = exceeds(minter, asked)
        return beyond === undefined || (beyond.apps.length === 0 && !beyond.expires_at)
      }),
    )
  })
})

await t.test('all is more than any list, whatever apps are named', async (t) => {
  t.equal(withinPins('all', pinned('a', 'l')), false)
  t.equal(holdsApp('all', 'a1'), true)
  t.equal(holdsApp(pinned('a1'), 'a1'), true)
  t.equal(holdsApp(pinned('a1'), 'a2'), false)
})

await t.test('misuse is reported by what was wrong', async (t) => {
  t.throws(() => effectiveAuthority([]), { message: /the key itself/ })
  t.throws(() => inheritPins([], 'all'), { message: /at least one app/ })
})
