import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { findElision } from '../../plugins/edits/answer/elision.ts'
import { AnswerParser, type ReadAnswer } from '../../plugins/edits/answer/parse.ts'
import { findLocation } from '../../plugins/edits/answer/location.ts'
import type { EditOperation } from '../../plugins/edits/contract.ts'
import { EventReader } from '../../plugins/edits/openai/answer.ts'
import { written } from '../support/editing.ts'

function readIn(pieces: readonly string[]): ReadAnswer {
  const parser = new AnswerParser()
  for (const piece of pieces) parser.push(piece)
  return parser.end()
}

/** The text in as many pieces as there are cuts, and one. */
function cut<T extends { slice(from: number, to?: number): T; readonly length: number }>(
  whole: T,
  cuts: readonly number[],
): readonly T[] {
  const places = [...new Set(cuts.map((one) => one % (whole.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((from, index) => whole.slice(from, places[index] ?? whole.length))
}

const cuts = fc.array(fc.nat(), { maxLength: 40 })

await t.test('an answer', async (t) => {
  const line = fc.oneof(
    fc.constantFrom(
      'FILE a.html',
      '**EDIT b.css**',
      'DELETE `c.txt`',
      'RENAME d.txt -> e.txt',
      '```html',
      '```',
      '````',
      '<<<<<<< SEARCH',
      '=======',
      '>>>>>>> REPLACE',
      '<think>',
      '</think>',
      '',
    ),
    fc.string(),
  )
  const text = fc
    .tuple(fc.array(line, { maxLength: 40 }), fc.constantFrom('\n', '\r\n'))
    .map(([lines, end]) => lines.join(end))

  await t.test('is the same however it is cut', async (t) => {
    fc.assert(
      fc.property(text, cuts, (answer, places) => {
        assert.deepEqual(readIn(cut(answer, places)), readIn([answer]))
      }),
    )
    t.pass('for every answer and every cut')
  })

  await t.test('is read as it was written', async (t) => {
    const path = fc.stringMatching(/^[a-z]{1,8}\.(html|css)$/)
    const plain = fc.stringMatching(/^[ a-z<>{};]{1,20}$/)
    const lines = fc.array(plain, { minLength: 1, maxLength: 5 })
    const operation: fc.Arbitrary<EditOperation> = fc.oneof(
      fc.record({
        op: fc.constant('write' as const),
        path,
        content: lines.map((all) => `${all.join('\n')}\n`),
      }),
      fc.record({
        op: fc.constant('patch' as const),
        path,
        search: lines.map((all) => all.join('\n')),
        replace: lines.map((all) => all.join('\n')),
      }),
      fc.record({ op: fc.constant('delete' as const), path }),
      fc.record({ op: fc.constant('rename' as const), from: path, to: path }),
    )
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 8 }), (operations) => {
        const { blocks, problems } = readIn([written(operations)])
        const read = blocks.map((block) => {
          if (block.verb === 'file')
            return { op: 'write', path: block.path, content: block.content }
          const { verb, ...rest } = block
          return { op: verb === 'edit' ? 'patch' : verb, ...rest }
        })
        assert.deepEqual([read, problems], [operations.map((one) => ({ ...one })), []])
      }),
    )
    t.pass('for all operations')
  })

  await t.test('whose file holds its own fence is not believed', async (t) => {
    const { problems } = readIn(['FILE a.md\n```\n# Start\n```\nnpm start\n```\nEnd\n```\n'])
    t.match(problems, [{ path: 'a.md', code: 'fence' }])
    t.match(readIn(['FILE a.md\n````\n```\nnpm start\n```\n````\n']), {
      blocks: [{ content: '```\nnpm start\n```\n' }],
      problems: [],
    })
  })

  await t.test('that stops within a block says so, and thoughts are no blocks', async (t) => {
    t.match(readIn(['FILE a.md\n```\n# Start\n']).problems, [{ path: 'a.md', code: 'unfinished' }])
    t.match(readIn(['EDIT a.md\n<<<<<<< SEARCH\nx\n']).problems, [{ code: 'unfinished' }])
    const thinking = '<think>\nDELETE a.md\n</think>\nSUMMARY: None.\nDELETE b.md\n'
    t.match(readIn([thinking]).blocks, [{ verb: 'delete', path: 'b.md' }])
    t.equal(readIn([thinking]).blocks.length, 1)
  })
})

await t.test('a long line in small pieces costs no more than its length', async (t) => {
  const parser = new AnswerParser()
  const reader = new EventReader()
  const pieces = 200_000
  const piece = Buffer.from('xxxx')
  parser.push('FILE a.txt\n```\n')
  reader.push(Buffer.from('data:'))
  for (let count = 0; count < pieces; count += 1) {
    parser.push('xxxx')
    reader.push(piece)
  }
  parser.push('\n```\n')
  const [block] = parser.end().blocks
  t.equal(block?.verb === 'file' && block.content.length, pieces * 4 + 1)
  t.equal(reader.end()[0]?.length, pieces * 4)
  const [lines, near] = ['a\n'.repeat(100_000), `${'a\n'.repeat(399)}b`]
  t.same(findLocation(lines, near, 'x'), { ok: false, lines: [] }, 'nor does a search that is near')
})

await t.test('a search finds exactly one place, or none', async (t) => {
  const PLACES: Readonly<Record<string, readonly [string, string, string, string | number]>> = {
    'as written': ['a\nb\nc\n', 'b', 'x', 'a\nx\nc\n'],
    'several lines': ['a\nb\nc\n', 'a\nb', 'x\ny\nz', 'x\ny\nz\nc\n'],
    'whole lines before parts': ['ab\nb\n', 'b', 'x', 'ab\nx\n'],
    'a part of a line': ['one two three\n', 'two', '2', 'one 2 three\n'],
    'whatever blanks lines end with': ['a  \nb\t\nc\n', 'a\nb', 'x', 'x\nc\n'],
    'lines that end as on Windows': ['a\r\nb\r\nc\r\n', 'a\nb', 'x\ny', 'x\r\ny\r\nc\r\n'],
    'less indentation': ['{\n    a\n      b\n}', 'a\n  b', 'a\n  x', '{\n    a\n      x\n}'],
    'more indentation': ['{\n a\n}', '    a', '    x\n      y', '{\n x\n   y\n}'],
    'nothing instead takes the line': ['a\nb\nc\n', 'b', '', 'a\nc\n'],
    'not among several': ['a\nb\na\n', 'a', 'x', 2],
    'not among several parts': ['aba\n', 'a', 'x', 2],
    'not what is only like it': ['alpha\n', 'alpho', 'x', 0],
    'not when lines differ unlike': ['  a\n      b\n', 'a\nb', 'x', 0],
    'not nothing': ['a\n\nb\n', '', 'x', 0],
  }
  for (const [title, [text, search, replace, expected]] of Object.entries(PLACES)) {
    const found = findLocation(text, search, replace)
    if (found.ok) {
      const { location } = found
      t.equal(
        text.slice(0, location.start) + location.replace + text.slice(location.end),
        expected,
        title,
      )
    } else {
      t.equal(found.lines.length, expected, title)
    }
  }
})

await t.test('what leaves something out is told from what only sounds so', async (t) => {
  const old = `/* same as before */\n${'p { color: red }\n'.repeat(20)}`
  const LAZY = [
    '// ... existing code ...',
    '<!-- rest of the page stays -->',
    '/* … keep the other styles … */',
    '# remaining sections unchanged',
    '...',
  ]
  for (const line of LAZY) t.equal(findElision(`a\n${line}\nb\n`, old), line)
  const FINE = [
    '/* same as before */',
    '<p>The rest of the code is on the next page...</p>',
    '// takes ...args and passes the rest on',
    'const [first, ...rest] = all',
  ]
  for (const line of FINE) t.equal(findElision(`a\n${line}\nb\n`, old), undefined, line)
  t.equal(findElision(`...\n${old}`, old), undefined, 'dots in a text that is as long')
})

await t.test('server-sent events are the same however they are cut', async (t) => {
  const line = fc.oneof(
    fc.constantFrom('data: {"a":"ä€😀"}', 'data:x', 'data', ': ping', 'event: y', 'id: 1', ''),
    fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, '')),
  )
  const stream = fc
    .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 })
    .map((lines) => Buffer.from(lines.flat().join('')))
  const read = (pieces: readonly Uint8Array[]): readonly string[] => {
    const reader = new EventReader()
    return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()]
  }
  fc.assert(
    fc.property(stream, cuts, (bytes, places) => {
      assert.deepEqual(read(cut<Uint8Array>(bytes, places)), read([bytes]))
    }),
  )
  t.same(read([Buffer.from('data: a\ndata: b\n\n: c\n\ndata:d')]), ['a\nb', 'd'])
})

await t.test('a stream that does not speak the protocol ends', async (t) => {
  const push = (text: string) => new EventReader().push(Buffer.from(text))
  const million = 'x'.repeat(1_048_576)
  t.equal(push(`data: ${million}\n\n`)[0]?.length, million.length)
  t.throws(() => push(`data: x${million}\n\n`), RangeError, 'an event that one chunk completes')
  t.throws(() => push(`data: x${million}`), /max buffer size/, 'one that has no end')
  t.throws(() => push(`data: ${million}\ndata: x\n`), /max buffer size/, 'nor its lines together')
  t.same(push('x\n'.repeat(1000)), [])
  t.throws(() => push('x\n'.repeat(1001)), /Unknown field/)
})
