import fc from 'fast-check'
import t from 'tap'
import type { JsonErrorCode } from '../../lib/internal/json.ts'
import { JsonError, parseJson } from '../../lib/internal/json.ts'

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

/** The refusal of `parse`, or undefined. Any other error is passed on. */
function refusalOf(parse: () => unknown): { code: JsonErrorCode; path: string } | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    if (error instanceof JsonError) return { code: error.code, path: error.path }
    throw error
  }
}

const refusal = (text: string, maxDepth?: number) =>
  refusalOf(() => parseJson(text, maxDepth === undefined ? {} : { maxDepth }))

await t.test('parseJson reads what JSON.parse reads, surrogate pairs included', async (t) => {
  for (const text of [
    'null',
    ' -0 ',
    '"\\ud83d\\ude00"',
    '"😀"',
    '"\\uffff"',
    '{"a":1,"a":[{}]}',
    '1e999',
    '""',
  ]) {
    t.strictSame(parseJson(text), JSON.parse(text), text)
  }
})

await t.test('parseJson refuses what is not JSON', async (t) => {
  for (const text of ['', '{', "{'a':1}", '[1,]', 'NaN', '\ufeff{}', '"\n"', '"\0"', '{} {}']) {
    t.strictSame(refusal(text), { code: 'invalid_json', path: '' }, text)
  }
  t.equal(refusal('['.repeat(60))?.code, 'invalid_json')
})

await t.test('parseJson bounds nesting', async (t) => {
  await t.test('64 levels pass, 65 do not', async (t) => {
    t.strictSame(parseJson(nested(64)), JSON.parse(nested(64)))
    t.strictSame(refusal(nested(65)), { code: 'json_too_deep', path: '[0]'.repeat(64) })
    const objects = `${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`
    t.strictSame(refusal(objects), { code: 'json_too_deep', path: 'a' + '.a'.repeat(63) })
  })
  await t.test('a given limit holds, zero included', async (t) => {
    t.equal(refusal('[[1]]', 2), undefined)
    t.strictSame(refusal('{"x":1,"a":["[",2,{"b":{}}]}', 3), {
      code: 'json_too_deep',
      path: 'a[2].b',
    })
    t.strictSame(refusal('[]', 0), { code: 'json_too_deep', path: '' })
    t.equal(refusal('7', 0), undefined)
  })
  await t.test('many brackets that are not nested pass, inside strings too', async (t) => {
    const wide = `[${'{"a":[]},'.repeat(500)}"${'['.repeat(500)}\\"{"]`
    t.strictSame(parseJson(wide), JSON.parse(wide))
  })
  await t.test('millions of levels are a refusal, never a stack overflow', async (t) => {
    t.equal(refusal(nested(1_000_000))?.code, 'json_too_deep')
  })
  await t.test('a deep value that a later duplicate key hides is refused', async (t) => {
    t.equal(refusal(`{"a":${nested(64)},"a":1}`)?.code, 'json_too_deep')
  })
})

await t.test(
  'parseJson refuses the key __proto__, plain or escaped, wherever it stands',
  async (t) => {
    const spellings = [
      '__proto__',
      '\\u005f_proto__',
      '\\u005F\\u005f\\u0070\\u0072\\u006f\\u0074\\u006F\\u005f\\u005F',
      '__\\u0070roto__',
      '__p\\u0072oto__',
      '__pr\\u006Fto__',
      '__pro\\u0074o__',
    ]
    for (const key of spellings) {
      const expected = { code: 'json_forbidden_key', path: 'data[1].__proto__' }
      t.strictSame(refusal(`{"data":[0,{"${key}" \n: {}}]}`), expected, key)
    }
    t.equal(refusal('{"__proto__":1,"__proto__":2}')?.code, 'json_forbidden_key')
    for (const text of [
      '["__proto__"]',
      '{"a":"__proto__"}',
      '{"__proto__x":":"}',
      '["\\\\u005f"]',
    ]) {
      t.strictSame(parseJson(text), JSON.parse(text), text)
    }
  },
)

await t.test('parseJson refuses U+0000 in strings and keys', async (t) => {
  t.strictSame(refusal('"\\u0000"'), { code: 'json_nul', path: '' })
  t.strictSame(refusal('{"a":["x",{"b c":"y\\u0000"}]}'), { code: 'json_nul', path: 'a[1]["b c"]' })
  t.strictSame(refusal('{"a\\u0000":1}'), { code: 'json_nul', path: '["a\\u0000"]' })
  t.strictSame(refusal('{"a":"\\u0000","a":1}'), { code: 'json_nul', path: 'a' })
  t.strictSame(refusal('"\\\\\\u0000"'), { code: 'json_nul', path: '' })
  t.equal(parseJson('"\\\\u0000"'), '\\u0000', 'an escaped backslash before u0000 is no U+0000')
})

await t.test('parseJson refuses half of a surrogate pair, wherever it is', async (t) => {
  const code = 'json_lone_surrogate'
  t.strictSame(refusal('"\\ud83d"'), { code, path: '' })
  t.strictSame(refusal('"\\uDE00\\uD83D"'), { code, path: '' })
  t.strictSame(refusal('{"a":["x",{"b":"y\\ud800z"}]}'), { code, path: 'a[1].b' })
  t.strictSame(refusal('{"a\\udfff":1}'), { code, path: '["a\\udfff"]' })
  t.strictSame(refusal('{"a":"\\ud800","a":1}'), { code, path: 'a' })
  t.strictSame(refusal('{"a":"\ud800"}'), { code, path: 'a' }, 'not escaped')
  t.equal(parseJson('"\\\\ud800"'), '\\ud800', 'an escaped backslash before ud800 is text')
})

await t.test('parseJson refuses what would take long to parse, and says so', async (t) => {
  const many = (count: number, one: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => one(index)).join(',')
  const complex = { code: 'json_too_complex', path: '' }
  t.strictSame(refusal(`{${many(700_000, (index) => `"k${index}":1`)}}`), complex)
  t.strictSame(refusal(`[${many(300_000, () => '{}')}]`), complex)
  t.strictSame(refusal(`[${many(1_048_577, () => '0')}]`), complex)
  t.equal(refusal(`[${many(1_048_576, () => '0')}]`), undefined)
  t.strictSame(refusal(`[${many(100_000, (index) => `{"k${index % 9999}":1}`)}]`), complex)
  for (const text of [
    `{${many(16_000, (index) => `"k${index}":1`)}}`,
    `[${many(100_000, (index) => `{"id":${index},"tags":["a"]}`)}]`,
    JSON.stringify(`{"a":1},[]`.repeat(100_000)),
    `[${'1,'.repeat(1_000_000)}1]`,
  ]) {
    t.strictSame(parseJson(text), JSON.parse(text))
  }
})

await t.test('a refusal shows a long path cut', async (t) => {
  const found = refusal(`{"${'k'.repeat(5000)}":"\\u0000"}`)
  t.strictSame(found, { code: 'json_nul', path: `${'k'.repeat(200)}…` })
})

await t.test('a megabyte of plain rows is read as JSON.parse reads it', async (t) => {
  const row = { id: 1, note: 'say "hi"\n', tags: ['é', '\u007f'], at: { x: [1, 2] } }
  const text = JSON.stringify(Array.from({ length: 18_000 }, () => row))
  t.ok(text.length > 1_000_000)
  t.equal(JSON.stringify(parseJson(text.replaceAll('é', '\\u00e9'))), text)
})

/** A document as its text has it: entries in order, duplicate keys and all. */
type Node = string | number | null | readonly Node[] | { readonly members: readonly Entry[] }
type Entry = readonly [key: string, value: Node]

/** The plain way to say it: look at every node, in the order of the text. */
function naiveRefusal(node: Node, levelsLeft: number): JsonErrorCode | undefined {
  if (typeof node === 'string') return naiveTextRefusal(node)
  if (typeof node !== 'object' || node === null) return undefined
  if (levelsLeft === 0) return 'json_too_deep'
  const entries = 'members' in node ? node.members : node.map((item) => ['', item] as const)
  for (const [key, value] of entries) {
    const fault = naiveTextRefusal(key)
    if (fault !== undefined) return fault
    if (key === '__proto__') return 'json_forbidden_key'
    const found = naiveRefusal(value, levelsLeft - 1)
    if (found !== undefined) return found
  }
  return undefined
}

function naiveTextRefusal(text: string): JsonErrorCode | undefined {
  if (text.includes('\0')) return 'json_nul'
  return /\p{Surrogate}/u.test(text) ? 'json_lone_surrogate' : undefined
}

/** Prints a node with white space and escapes wherever `coin` says so, as a writer is free to. */
function print(node: Node, coin: () => boolean): string {
  const space = coin() ? ' \n' : ''
  if (typeof node === 'string') return space + printText(node, coin) + space
  if (typeof node !== 'object' || node === null) return String(node)
  if (!('members' in node)) return `[${node.map((item) => print(item, coin)).join(',')}${space}]`
  const printed = node.members.map(([k, v]) => `${print(k, coin)}:${space}${print(v, coin)}`)
  return `{${printed.join(',')}}`
}

function printText(text: string, coin: () => boolean): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charAt(at))
  const escaped = (unit: string): string => {
    const hex = unit.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${coin() ? hex : hex.toUpperCase()}`
  }
  const printed = units.map((unit) => (coin() ? escaped(unit) : JSON.stringify(unit).slice(1, -1)))
  return `"${printed.join('')}"`
}

function coinOf(seed: number): () => boolean {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state % 65_536 > 49_152
  }
}

const anyText = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('__proto__', '__proto', 'a\0', '\\u0000', '[{"', '":', '\ud800'),
  },
)
const { node: anyNode } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(anyText, fc.integer(), fc.constant(null)),
    fc.array(tie('node'), { maxLength: 3 }),
    fc.array(fc.tuple(anyText, tie('node')), { maxLength: 3 }).map((members) => ({ members })),
  ),
}))

await t.test('parseJson agrees with a naive recursive walk on any document', async (t) => {
  const seen = new Set<string | undefined>()
  fc.assert(
    fc.property(anyNode, fc.nat({ max: 5 }), fc.nat(), (node, maxDepth, seed) => {
      const text = print(node, coinOf(seed))
      const expected = naiveRefusal(node, maxDepth)
      seen.add(expected)
      if (refusal(text, maxDepth)?.code !== expected) return false
      return (
        expected !== undefined ||
        JSON.stringify(parseJson(text, { maxDepth })) === JSON.stringify(JSON.parse(text))
      )
    }),
    { numRuns: 3000 },
  )
  t.equal(seen.size, 5, 'the documents met every answer')
})
