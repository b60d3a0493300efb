import assert from 'node:assert/strict'
import type { FilesCase } from './harness.ts'
import { assertFails, blank, processAll, taskOf, textOf } from './harness.ts'

const SENTENCES = Array.from({ length: 400 }, (_, index) => `Sentence ${index} says so. `)
const PROSE = Array.from({ length: 40 }, (_, index) =>
  SENTENCES.slice(index * 10, index * 10 + 10).join(''),
).join('\n\n')

export const textCases: readonly FilesCase[] = [
  {
    name: 'text: every sentence is in a chunk, in order, and the answer counts the chunks',
    async run(harness) {
      const outcome = await processAll(harness, taskOf('notes.txt', PROSE))
      assert.equal(outcome.content_type, harness.processor.sniff('notes.txt', Buffer.from(PROSE)))
      const types = harness.processor.reads.map(({ media_type }) => media_type)
      assert.ok(types.includes(outcome.content_type), 'it reads what it detects')
      assert.equal(outcome.chunks, outcome.all.length)
      assert.ok(outcome.chunks > 1)
      let last = 0
      for (const sentence of SENTENCES) {
        const found = outcome.all.findIndex(({ text }) => text.includes(sentence.trim()))
        assert.ok(found >= last, sentence)
        last = found
      }
    },
  },
  {
    name: 'text: offsets point at the extracted text, of which nothing but white space is left out',
    async run(harness) {
      const outcome = await processAll(harness, taskOf('notes.txt', PROSE))
      assert.equal(outcome.characters, PROSE.length)
      assert.equal(blank(textOf(outcome)), blank(PROSE))
    },
  },
  {
    name: 'text: one huge line is cut into chunks',
    async run(harness) {
      const line = 'abcdefghij'.repeat(100_000)
      const outcome = await processAll(harness, taskOf('line.txt', line))
      assert.equal(textOf(outcome), line)
    },
  },
  {
    name: 'text: no character is cut, wherever the bytes and the chunks are',
    async run(harness) {
      const text = '🦜'.repeat(9000)
      const outcome = await processAll(harness, taskOf('birds.txt', text, 4099))
      assert.equal(textOf(outcome), text)
    },
  },
  {
    name: 'text: bytes that are no UTF-8 become U+FFFD, and the rest is kept',
    async run(harness) {
      const bytes = Buffer.concat([
        Buffer.from('before '),
        Buffer.of(0xc3, 0x28, 0xff, 0xed, 0xa0, 0x80),
        Buffer.from(' after'),
      ])
      const text = textOf(await processAll(harness, taskOf('notes.txt', bytes)))
      assert.match(text, /^before \ufffd[^]*\ufffd after$/u)
    },
  },
  {
    name: 'text: NUL becomes U+FFFD',
    async run(harness) {
      const text = textOf(await processAll(harness, taskOf('notes.txt', 'one\0two')))
      assert.equal(text, 'one\ufffdtwo')
    },
  },
  {
    name: 'text: a byte order mark is no part of it',
    async run(harness) {
      const outcome = await processAll(harness, taskOf('notes.txt', '\ufeffmarked'))
      assert.deepEqual([textOf(outcome), outcome.characters], ['marked', 6])
    },
  },
  {
    name: 'text: an empty file is refused, and one with nothing but white space',
    async run(harness) {
      await assertFails(processAll(harness, taskOf('empty.txt', '')), 'empty_file')
      await assertFails(processAll(harness, taskOf('blank.txt', ' \n\t\r\n')), 'no_text')
    },
  },
  {
    name: 'type: one that the processor does not take has no content type and is refused',
    async run(harness) {
      const bytes = Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d)
      assert.equal(harness.processor.sniff('picture.png', bytes), undefined)
      const refused = processAll(harness, taskOf('picture.png', bytes))
      await assertFails(refused, 'unsupported_media_type')
    },
  },
  {
    name: 'markdown: a chunk knows the headings above it',
    requires: 'markdown',
    async run(harness) {
      const text =
        '# Birds\n\nAll.\n\n## Parrots\n\nGreen.\n\n```\n# no heading\n```\n\n# Fish\n\nWet.\n'
      const { all } = await processAll(harness, taskOf('animals.md', text))
      const headingOf = (word: string) => all.find((chunk) => chunk.text.includes(word))?.heading
      assert.deepEqual(['All.', 'Green.', 'no heading', 'Wet.'].map(headingOf), [
        'Birds',
        'Birds > Parrots',
        'Birds > Parrots',
        'Fish',
      ])
    },
  },
]
