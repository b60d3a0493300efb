import fc from 'fast-check'
import t from 'tap'
import type { Scope, ScopeSet } from '../../lib/scope/canonical.ts'
import { canonical, meetScopes, printScopes, readScopes } from '../../lib/scope/canonical.ts'
import { covers, uncovered } from '../../lib/scope/cover.ts'
import { parseScope } from '../../lib/scope/syntax.ts'
import {
  GRAMMAR,
  SUBSETS,
  denotation,
  everyScope,
  scope,
  set,
  universe,
} from '../support/scopes.ts'

const isSubset = (inner: number, outer: number): boolean => (inner & ~outer) === 0

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
