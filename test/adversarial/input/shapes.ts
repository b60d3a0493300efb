import type { Operation } from '../../../daemon/operations/operation.ts'
import { many } from './world.ts'

/** Characters of a hostile value: enough to show that an answer does not grow with it. */
const SIZE = 98_304

const fill = (piece: (index: number) => string): string =>
  many(Math.ceil(SIZE / (piece(0).length + 1)), piece)
const repeat = (piece: string): string => piece.repeat(SIZE / piece.length)

/** JSON texts that cost a lot to read, to judge or to list the faults of. */
export const VALUES: Readonly<Record<string, string>> = {
  'many numbers': `[${fill((index) => String(index))}]`,
  'many texts': `[${fill((index) => `"t${index}"`)}]`,
  'many objects': `[${fill((index) => `{"a":${index},"b":{},"c":[]}`)}]`,
  'many unknown names': `{${fill((index) => `"name_${index}":1`)}}`,
  'one name again and again': `{${fill(() => '"name":1')}}`,
  'lists of lists': `[${fill(() => `${'['.repeat(40)}${']'.repeat(40)}`)}]`,
  'a long text': `"${repeat('x')}"`,
  'a text of escapes': `"${repeat('\\u0001')}"`,
  'a text of combining marks': `"a${repeat('\\u0301\\u0327')}"`,
  'a long name': `{"${repeat('n')}":1}`,
  'many digits': repeat('9'),
  'deep lists': `${repeat('[')}${repeat(']')}`,
  'deep objects': `${repeat('{"a":')}1${repeat('}')}`,
}

/** Bodies that have a hostile value in place of all of the example, and of each of its members. */
export function* bodiesOf({ example }: Operation): Generator<readonly [string, string]> {
  const members = isObject(example.body) ? Object.entries(example.body) : []
  for (const [what, value] of Object.entries(VALUES)) {
    yield [what, value]
    for (const [name] of members) {
      const others = members.filter(([other]) => other !== name)
      const printed = others.map(([other, one]) => `"${other}":${JSON.stringify(one)}`)
      yield [`${name}: ${what}`, `{${[...printed, `"${name}":${value}`].join(',')}}`]
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
