import fc from 'fast-check'
import t from 'tap'
import type { Tree } from '../../daemon/trees/tree.ts'
import { digestOf } from '../../daemon/trees/tree.ts'
import { applyOperations } from '../../daemon/trees/apply.ts'
import { findMatch } from '../../daemon/trees/find-match.ts'
import { runAtOnce } from '../support/steps.ts'

const MIB = 1_048_576

const matchIn = (search: string, text: string) =>
  runAtOnce(findMatch(Buffer.from(search), Buffer.from(text)))

void t.test('a text is found where it stands once, as indexOf would', async (t) => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 30 })
  const search = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(few, search, (text, search) => {
      const first = text.indexOf(search)
      const again = first !== -1 && text.includes(search, first + 1)
      const expected = first === -1 ? 'no_match' : again ? 'many_matches' : first
      return matchIn(search, text) === expected
    }),
    { numRuns: 5000 },
  )
  t.equal(matchIn('', 'a'), 'no_match')
  t.equal(matchIn('aa', 'aaa'), 'many_matches', 'also where the two overlap')
})

// By `indexOf` each of these would take hours.
void t.test('texts that repeat themselves take no longer than others', async (t) => {
  const text = 'a'.repeat(8 * MIB)
  t.equal(matchIn(`b${'a'.repeat(4 * MIB)}`, text), 'no_match')
  t.equal(matchIn(`${'a'.repeat(4 * MIB)}b`, text), 'no_match')
  t.equal(matchIn('a'.repeat(4 * MIB), text), 'many_matches')
})

void t.test('the patches of one edit work through so many bytes at most', async (t) => {
  const bytes = Buffer.from(`x${'.'.repeat(8 * MIB)}`)
  const sha256 = digestOf(bytes)
  const file = { path: 'large.txt', sha256, size: bytes.length }
  const tree: Tree = { files: new Map([[file.path, file]]), config: new Map() }
  const patch = (search: string, replace: string) =>
    ({ op: 'patch', path: file.path, search, replace }) as const
  const there = [patch('x', 'y'), patch('y', 'x')]
  const operations = Array.from({ length: 5 }, () => there).flat()
  const done = await applyOperations(tree, operations, async () => bytes)
  t.match(done, [
    { index: 7, code: 'too_much_work', path: 'large.txt' },
    { index: 8 },
    { index: 9 },
  ])
})
