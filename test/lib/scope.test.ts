import fc from 'fast-check'
import t from 'tap'
import { KeyhookError } from '../../lib/errors.ts'
import type { Scope, ScopeSet } from '../../lib/scope/canonical.ts'
import { canonical, meetScopes, printScopes, readScopes } from '../../lib/scope/canonical.ts'
import { allows, covers, requiredScope, uncovered } from '../../lib/scope/cover.ts'
import {
  MAX_SCOPES,
  SPEC_SCOPES,
  createUniverse,
  parseScope,
  parseScopes,
} from '../../lib/scope/syntax.ts'

const universe = createUniverse(SPEC_SCOPES)

function scope(text: string): Scope {
  const parsed = parseScope(text, universe)
  if (parsed === undefined) throw new Error(`not in the grammar: ${text}`)
  return parsed
}

const set = (...texts: readonly string[]): ScopeSet => canonical(texts.map(scope))

// The model: a scope is the set of points it matches, where one family and one action stand for
// all that later releases may add.
const FAMILIES = ['apps', 'keys', 'later_family']
const ACTIONS = ['read', 'write', 'later_action']
const POINTS = FAMILIES.flatMap((family) => ACTIONS.map((action) => ({ family, action })))
const GRAMMAR = [
  'apps:read',
  'apps:write',
  'apps:*',
  'keys:read',
  'keys:write',
  'keys:*',
  '*:read',
  '*:*',
].map(scope)

function denotation(scopes: Iterable<string>): number {
  let mask = 0
  for (const text of scopes) {
    const [family, action] = text.split(':')
    for (const [bit, point] of POINTS.entries()) {
      const matches =
        (family === '*' || family === point.family) && (action === '*' || action === point.action)
      if (matches) mask |= 1 << bit
    }
  }
  return mask
}

const isSubset = (inner: number, outer: number): boolean => (inner & ~outer) === 0

/** Every subset of the grammar over two families and two actions, with what it denotes. */
const SUBSETS = Array.from({ length: 2 ** GRAMMAR.length }, (_, bits) => {
  const scopes = GRAMMAR.filter((_scope, at) => (bits & (1 << at)) !== 0)
  const form = canonical(scopes)
  return {
    name: `[${printScopes(scopes)}]`,
    form,
    text: printScopes(form),
    mask: denotation(scopes),
  }
})

await t.test('the grammar is closed', async (t) => {
  const accepted = ['apps:read', 'apps:write', 'apps:*', '*:read', '*:*', 'observe:read']
  for (const text of accepted) t.equal(parseScope(text, universe), text)

  const refused: readonly (readonly unknown[])[] = [
    ['apps', 'apps:', ':read', ':', '*', '', 'apps:read:x', 'apps:read:', 'Apps:read'],
    [' apps:read', 'apps:read ', 'apps:read\n', 'apps:read\0', 'ap*:read', 'apps:r*', 'apps:**'],
    ['**:*', '*:*:*', '*:write', '*:later', '*:', '\u0430pps:read', 'apps\uff1aread'],
    ['zebra:read', 'zebra:*', 'apps:delete', 'observe:write', 'discovery:write'],
    ['__proto__:read', 'constructor:*', 'apps:constructor', 'apps:has'],
    [undefined, null, 7, true, {}, ['apps:read'], new Set(['apps:read'])],
  ]
  for (const text of refused.flat()) {
    t.equal(parseScope(text, universe), undefined, JSON.stringify(text))
  }
})

await t.test('a scope without its colon is not read as two names', async (t) => {
  const tricky = createUniverse({ rea: ['read'], apps: ['read'] })
  t.equal(parseScope('read', tricky), undefined)
})

await t.test(
  'the universe has the families of the specification, billing and events',
  async (t) => {
    const both = ['apps', 'edits', 'files', 'deploy', 'settings', 'keys', 'webhooks', 'events']
    const readOnly = ['observe', 'discovery', 'billing']
    t.strictSame(new Set(universe.keys()), new Set([...both, ...readOnly]))
    for (const family of both) t.strictSame(universe.get(family), new Set(['read', 'write']))
    for (const family of readOnly) t.strictSame(universe.get(family), new Set(['read']))
  },
)

await t.test('an embedder adds families, and names outside the grammar are misuse', async (t) => {
  const wider = createUniverse({ ...SPEC_SCOPES, invoices: ['read', 'send'] })
  t.equal(parseScope('invoices:send', wider), 'invoices:send')
  t.equal(parseScope('invoices:send', universe), undefined)
  const misuse: readonly Record<string, readonly string[]>[] = [
    { '*': ['read'] },
    { Apps: ['read'] },
    { 'a:b': ['read'] },
    { '': ['read'] },
    { ['a'.repeat(33)]: ['read'] },
    { apps: ['*'] },
    { apps: ['re ad'] },
    { apps: [] },
  ]
  for (const declared of misuse) t.throws(() => createUniverse(declared), TypeError)
})

await t.test('a list of scopes', async (t) => {
  function faultsOf(list: readonly unknown[], location?: string): readonly string[] {
    try {
      parseScopes(list, universe, location)
    } catch (error) {
      if (!(error instanceof KeyhookError)) throw error
      t.match(error, { code: 'invalid_scope', status: 400 })
      return error.errors.map((fault) => fault.location)
    }
    return []
  }

  await t.test('comes back canonical', async (t) => {
    t.strictSame(parseScopes(['keys:read', 'apps:*', 'apps:read', 'keys:read'], universe), [
      'apps:*',
      'keys:read',
    ])
    t.strictSame(parseScopes(['apps:read', '*:*', '*:read'], universe), ['*:*'])
  })
  await t.test('is refused whole, naming every bad element', async (t) => {
    t.strictSame(faultsOf(['apps:read', 'zebra:read', 'apps:*', '*:write', null, ['apps:read']]), [
      'scopes[1]',
      'scopes[3]',
      'scopes[4]',
      'scopes[5]',
    ])
    t.strictSame(faultsOf(['apps'], 'body.scopes'), ['body.scopes[0]'])
    const holes: unknown[] = ['apps:read']
    holes.length = 2
    t.strictSame(faultsOf(holes), ['scopes[1]'])
  })
  await t.test('is refused when empty: nothing never means everything', async (t) => {
    t.strictSame(faultsOf([]), ['scopes'])
  })
  await t.test('holds at most 64 elements', async (t) => {
    const repeated = (count: number): string[] => Array.from({ length: count }, () => 'apps:read')
    t.strictSame(parseScopes(repeated(MAX_SCOPES), universe), ['apps:read'])
    t.strictSame(faultsOf(repeated(MAX_SCOPES + 1)), ['scopes'])
  })
  await t.test('a long element is not echoed', async (t) => {
    try {
      parseScopes(['x'.repeat(100_000)], universe)
      t.fail('it was accepted')
    } catch (error) {
      t.ok(error instanceof KeyhookError && (error.errors[0]?.message.length ?? 0) < 200)
    }
  })
})

await t.test('the truth table of one scope within another', async (t) => {
  const columns = GRAMMAR
  const rows: Readonly<Record<string, string>> = {
    'apps:read': 'x.x...xx',
    'apps:write': '.xx....x',
    'apps:*': '..x....x',
    'keys:read': '...x.xxx',
    'keys:write': '....xx.x',
    'keys:*': '.....x.x',
    '*:read': '......xx',
    '*:*': '.......x',
  }
  for (const [asked, row] of Object.entries(rows)) {
    const found = columns.map((held) => (covers([held], scope(asked)) ? 'x' : '.')).join('')
    t.equal(found, row, asked)
  }
})

await t.test(
  'subset, meet and canonical form agree with the model for all pairs of sets',
  async (t) => {
    let pairs = 0
    const wrong: string[] = []
    for (const a of SUBSETS) {
      for (const b of SUBSETS) {
        pairs++
        const meet = meetScopes(a.form, b.form)
        const laws = {
          subset: (uncovered(a.form, b.form).length === 0) === isSubset(b.mask, a.mask),
          meet: denotation(meet) === (a.mask & b.mask),
          'meet in the grammar': meet.every((part) => GRAMMAR.includes(part)),
          'meet canonical': printScopes(meet) === printScopes(canonical(meet)),
          'one form per denotation': (a.text === b.text) === (a.mask === b.mask),
        }
        for (const [law, holds] of Object.entries(laws)) {
          if (!holds) wrong.push(`${law}: ${a.name} ${b.name}`)
        }
      }
    }
    t.equal(pairs, 65_536)
    t.strictSame(wrong.slice(0, 9), [], `${wrong.length} are wrong`)
  },
)

await t.test('the canonical form', async (t) => {
  await t.test('denotes what was given, and no member covers another', async (t) => {
    for (const { name, form, mask } of SUBSETS) {
      const isRepeated = (part: Scope): boolean =>
        covers(
          form.filter((other) => other !== part),
          part,
        )
      if (denotation(form) !== mask || form.some(isRepeated)) t.fail(name)
    }
    // Per family nothing, r, w, rw or *: 5 x 5. Beside *:read nothing, w or *: 3 x 3. And *:* alone.
    t.equal(new Set(SUBSETS.map(({ text }) => text)).size, 35)
  })
  await t.test('is stored and read back unchanged, the empty set included', async (t) => {
    for (const { name, form, text } of SUBSETS) {
      if (readScopes(text).join() !== form.join()) t.fail(name)
    }
    t.strictSame(readScopes(printScopes([])), [])
    t.strictSame(readScopes('apps:* keys:read'), ['apps:*', 'keys:read'])
  })
})

await t.test(
  'a list of everything known covers no wildcard over families or actions',
  async (t) => {
    const families = [...universe.keys()]
    const allFamilies = canonical(families.map((family) => scope(`${family}:*`)))
    t.strictSame(uncovered(allFamilies, set('*:*')), ['*:*'])
    t.strictSame(uncovered(allFamilies, set('*:read')), ['*:read'])
    t.strictSame(uncovered(set('apps:read', 'apps:write'), set('apps:*')), ['apps:*'])
    t.strictSame(uncovered(set('apps:*', 'keys:write'), set('apps:read', 'keys:*', 'files:read')), [
      'files:read',
      'keys:*',
    ])
  },
)

const everyScope = [...universe].flatMap(([family, actions]) => [
  `${family}:*`,
  ...[...actions].map((action) => `${family}:${action}`),
])
const anyScope = fc.constantFrom(...[...everyScope, '*:read', '*:*'].map(scope))
const anySet = fc.array(anyScope, { maxLength: 12 }).map(canonical)
const anyFullSet = fc.array(anyScope, { minLength: 1, maxLength: 12 }).map(canonical)
const isWithin = (inner: ScopeSet, outer: ScopeSet): boolean => uncovered(outer, inner).length === 0

await t.test('meet', async (t) => {
  await t.test('is what the reference shows', async (t) => {
    t.strictSame(meetScopes(set('apps:*', '*:read'), set('apps:write', 'keys:*')), [
      'apps:write',
      'keys:read',
    ])
    t.strictSame(meetScopes(set('apps:write'), set('*:read')), [])
  })
  await t.test('is commutative, associative and idempotent', async () => {
    fc.assert(
      fc.property(anySet, anySet, anySet, (a, b, c) => {
        const same = (x: ScopeSet, y: ScopeSet): boolean => printScopes(x) === printScopes(y)
        return (
          same(meetScopes(a, b), meetScopes(b, a)) &&
          same(meetScopes(meetScopes(a, b), c), meetScopes(a, meetScopes(b, c))) &&
          same(meetScopes(a, a), a)
        )
      }),
    )
  })
  await t.test('is the greatest lower bound', async () => {
    fc.assert(
      fc.property(anySet, anySet, anySet, (a, b, other) => {
        const meet = meetScopes(a, b)
        const below = isWithin(other, a) && isWithin(other, b)
        return isWithin(meet, a) && isWithin(meet, b) && below === isWithin(other, meet)
      }),
    )
  })
  await t.test('of the declared families stays in the grammar', async () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) =>
        meetScopes(a, b).every((part) => parseScope(part, universe) === part),
      ),
    )
  })
  await t.test('of what was granted and what its maker holds is what was granted', async () => {
    fc.assert(
      fc.property(anyFullSet, anyFullSet, (holder, asked) => {
        const meet = meetScopes(holder, asked)
        return isWithin(asked, holder) === (printScopes(meet) === printScopes(asked))
      }),
    )
  })
})

await t.test('what an operation requires', async (t) => {
  await t.test('is allowed exactly when the point lies in the set', async (t) => {
    for (const [bit, { family, action }] of POINTS.entries()) {
      if (family === 'later_family' || action === 'later_action') continue
      const required = requiredScope(`${family}:${action}`, universe)
      for (const { name, form, mask } of SUBSETS) {
        if (allows(form, required) !== ((mask & (1 << bit)) !== 0)) t.fail(`${name} ${required}`)
      }
    }
    t.equal(allows(set('apps:write'), requiredScope('apps:read', universe)), false)
  })
  await t.test('reaches what later releases add through wildcards alone', async (t) => {
    const later = createUniverse({ ...SPEC_SCOPES, invoices: ['read', 'send'] })
    const read = requiredScope('invoices:read', later)
    const send = requiredScope('invoices:send', later)
    t.equal(allows(set('*:read'), read), true)
    t.equal(allows(set('*:read'), send), false)
    t.equal(allows(set('*:*'), send), true)
    t.equal(allows(canonical(everyScope.map(scope)), read), false)
  })
  await t.test('is never a wildcard nor an undeclared scope', async (t) => {
    for (const text of ['apps:*', '*:read', '*:*', 'zebra:read', 'apps', '']) {
      const message = `${JSON.stringify(text)} is not one declared family:action`
      t.throws(() => requiredScope(text, universe), new TypeError(message))
    }
  })
  await t.test('is of another type than a scope in a set', async (t) => {
    const required = requiredScope('apps:read', universe)
    // @ts-expect-error a requirement is not a pattern
    t.equal(covers(set('apps:read'), required), true)
    // @ts-expect-error a pattern is not a requirement
    t.equal(allows(set('apps:read'), scope('apps:read')), true)
  })
})
