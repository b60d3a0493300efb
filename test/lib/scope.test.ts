import t from 'tap'
import { KeyhookError } from '../../lib/errors.ts'
import { canonical } from '../../lib/scope/canonical.ts'
import { allows, covers, requiredScope } from '../../lib/scope/cover.ts'
import {
  MAX_SCOPES,
  SPEC_SCOPES,
  createUniverse,
  parseScope,
  parseScopes,
} from '../../lib/scope/syntax.ts'
import { POINTS, SUBSETS, everyScope, scope, set, universe } from '../support/scopes.ts'

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

await t.test(
  'the error names what is refused, and quotes it if it is no longer than a scope',
  async (t) => {
    const errorsOf = (list: readonly unknown[]): unknown => {
      try {
        return parseScopes(list, universe)
      } catch (cause) {
        return cause instanceof KeyhookError ? cause.errors : cause
      }
    }
    const code = 'invalid_scope'
    t.strictSame(errorsOf([]), [{ location: 'scopes', code, message: 'Name 1 to 64 scopes.' }])
    const longest = 'x'.repeat(65)
    const rows: readonly (readonly [unknown, string])[] = [
      ['apps:delete', '"apps:delete"'],
      [longest, `"${longest}"`],
      [`${longest}x`, 'This'],
      [7, 'This'],
    ]
    for (const [element, name] of rows) {
      const message = `${name} is not a scope of this service.`
      t.strictSame(errorsOf([element]), [{ location: 'scopes[0]', code, message }])
    }
    const details = { scopes: ['orders:read', 'orders:write'] }
    t.throws(
      () => parseScopes(['zebra'], createUniverse({ orders: ['read', 'write'] })),
      Object.assign(new Error(), { details }),
    )
    t.throws(() => createUniverse({ apps: [] }), { message: 'Scope family apps has no actions' })
    t.throws(() => createUniverse({ apps: ['Read'] }), { message: '"Read" cannot name a scope' })
  },
)

await t.test('a misspelt scope is answered with the nearest one there is', async (t) => {
  const wider = createUniverse({ ...SPEC_SCOPES, orders: ['read', 'write'] })
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['ordrs:read', 'orders:read'],
    ['order:raed', 'orders:read'],
    ['orders:*:', 'orders:*'],
    ['*:write', undefined],
    ['webhook:write', 'webhooks:write'],
    ['apps:delete', undefined],
    ['zebra:stripes', undefined],
    ['x'.repeat(65), undefined],
  ]
  for (const [given, meant] of rows) {
    const message = `${JSON.stringify(given)} is not a scope of this service.${
      meant === undefined ? '' : ` Did you mean "${meant}"?`
    }`
    t.throws(() => parseScopes([given], wider), {
      message: /details\.scopes lists every family:action/,
      errors: [{ location: 'scopes[0]', message }],
    })
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
