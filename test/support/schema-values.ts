import fc from 'fast-check'
import { DAY, toIso } from '../../lib/time.ts'
import type { Schema } from './openapi.ts'
import { resolveSchema } from './openapi.ts'
import type { SeededRandom } from './seeded-random.ts'

/** A value that satisfies a schema, drawn at random. */
export function drawValue(given: Schema, random: SeededRandom): unknown {
  const schema = resolveSchema(given)
  const variants = schema.anyOf ?? schema.oneOf
  if (variants !== undefined) return drawValue(random.pickAny(variants) ?? {}, random)
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return random.pickAny(schema.enum)
  if (schema.example !== undefined && random.oneIn(2)) return schema.example
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['null'])
  return MAKERS[random.pickAny(types) ?? 'null']?.(schema, random)
}

type Maker = (schema: Schema, random: SeededRandom) => unknown

const MAKERS: Readonly<Record<string, Maker>> = {
  null: () => null,
  boolean: (_, random) => random.oneIn(2),
  integer: drawNumber,
  number: drawNumber,
  string: drawString,
  array({ items = {}, minItems = 0 }, random) {
    const length = Math.max(minItems, random.below(4))
    return Array.from({ length }, () => drawValue(items, random))
  },
  object({ properties = {}, required = [] }, random) {
    const entries = Object.entries(properties).filter(
      ([name]) => required.includes(name) || random.oneIn(2),
    )
    return Object.fromEntries(entries.map(([name, part]) => [name, drawValue(part, random)]))
  },
}

function drawNumber({ minimum = -1000, maximum = 1000 }: Schema, random: SeededRandom): number {
  return random.pick([minimum, maximum, minimum + random.below(maximum - minimum + 1)])
}

const LETTERS: readonly [string, ...string[]] = [
  'a',
  'Z',
  '0',
  ' ',
  '_',
  'é',
  '日',
  '😀',
  '"',
  '\\',
]

function drawString({ pattern, format, ...bounds }: Schema, random: SeededRandom): string {
  if (format === 'date-time') return toIso(Date.now() + random.below(DAY))
  if (pattern !== undefined) return drawMatch(pattern, random)
  const { minLength = 0, maxLength = 100 } = bounds
  const length = random.pick([minLength, Math.min(maxLength, 20), maxLength])
  return Array.from({ length }, () => random.pick(LETTERS))
    .join('')
    .slice(0, length)
}

/** Texts by the pattern they match: making them takes long, so a few are made once. */
const matches = new Map<string, readonly string[]>()
const MATCHES = 50

function drawMatch(pattern: string, random: SeededRandom): string {
  const known = matches.get(pattern) ?? makeMatches(pattern, random.below(2 ** 31))
  matches.set(pattern, known)
  return random.pickAny(known) ?? ''
}

function makeMatches(pattern: string, seed: number): readonly string[] {
  return fc.sample(fc.stringMatching(new RegExp(pattern, 'u')), { seed, numRuns: MATCHES })
}
