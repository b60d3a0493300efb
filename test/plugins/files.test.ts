import fc from 'fast-check'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { runCases } from '../../plugins/conformance.ts'
import type { Segment } from '../../plugins/files/chunk.ts'
import { TARGET, chunkSegments } from '../../plugins/files/chunk.ts'
import { filesCases } from '../../plugins/files/conformance.ts'
import { blank, processAll, taskOf, textOf } from '../../plugins/files/conformance/harness.ts'
import type { FileTask } from '../../plugins/files/contract.ts'
import { createFileProcessor } from '../../plugins/files/extract.ts'
import { DEFAULT_LIMITS } from '../../plugins/files/extract/command.ts'
import { watchLimits } from '../../plugins/files/extract/run.ts'
import { createMemoryFileProcessor } from '../../plugins/files/memory.ts'
import { docxParts, paragraph, pdfOf, sheetRow, xlsxParts, zipOf } from '../support/documents.ts'

// Half a minute when the machine is idle: a child for each document.
t.setTimeout(5 * MINUTE)

const SUITES = {
  memory: () => createMemoryFileProcessor(),
  extract: () => createFileProcessor(),
}

for (const [name, create] of Object.entries(SUITES)) {
  await t.test(`${name} keeps the contract of the files room`, async (t) => {
    const makeHarness = async () => {
      const processor = create()
      return { processor, close: () => processor.close() }
    }
    const register = (title: string, run: () => Promise<void>): void => {
      void t.test(title, async (t) => {
        await run()
        t.pass('as the contract says')
      })
    }
    t.same(runCases(filesCases, makeHarness, register, ['markdown']), [])
  })
}

const processor = createFileProcessor()
t.teardown(() => processor.close())

const read = (name: string, content: string | Uint8Array) =>
  processAll({ processor }, taskOf(name, content))

await t.test('chunks: the laws hold for whatever is cut', async (t) => {
  const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 })
  const gap = fc.constantFrom(' ', '', '. ', '\n', '\n\n', '🦜', '。', ' '.repeat(700), '\n \n')
  const text = fc
    .array(fc.tuple(word, gap, fc.integer({ min: 1, max: 200 })), { maxLength: 12 })
    .map((parts) => parts.map(([one, between, times]) => (one + between).repeat(times)).join(''))
  const segment = fc.record({
    text: text.map((one) => one.replaceAll('\0', '')),
    heading: fc.constantFrom(null, 'Birds', '🦜'.repeat(150)),
    page: fc.constantFrom(null, 3),
    repeat: fc.constantFrom('', 'name | colour\n', 'x'.repeat(5000)),
  })
  const laws = fc.property(fc.array(segment, { maxLength: 4 }), (segments: Segment[]) => {
    const whole = segments.map((one) => one.text).join('')
    const all = [...chunkSegments(segments)]
    // Asserts that ordinals count, that offsets lie in the text and that what overlaps is the same.
    const outcome = { all, chunks: all.length, characters: whole.length }
    const seen = textOf({ ...outcome, content_type: 'text/plain', stages: [] })
    return (
      blank(seen) === blank(whole) &&
      all.every(({ start, end }) => end - start <= TARGET) &&
      all.every(({ heading }) => heading === null || heading.length <= 200)
    )
  })
  fc.assert(laws, { numRuns: 100 })
  t.pass('ordinals, offsets, coverage, size, surrogates')
})

await t.test(
  'chunks: prose is cut at paragraphs, and neighbours overlap by 5 to 15 %',
  async (t) => {
    const paragraphs = Array.from({ length: 60 }, (_, index) => `Paragraph ${index}. `.repeat(25))
    const all = [...chunkSegments([{ text: paragraphs.join('\n\n'), heading: null, page: null }])]
    t.ok(all.slice(0, -1).every(({ end, start }) => end - start > TARGET / 2))
    for (const [index, { end }] of all.slice(0, -1).entries()) {
      const shared = end - (all[index + 1]?.start ?? 0)
      t.ok(shared >= 100 && shared <= 300, `${shared} characters are in both`)
    }
  },
)

await t.test('pdf: each page is told with its number', async (t) => {
  const pages = ['Parrots are green.\nSome talk.', 'Fish (all of them) are wet.', 'The end.']
  const { all, content_type, stages } = await read('birds.pdf', pdfOf(pages))
  t.equal(content_type, 'application/pdf')
  t.same(
    all.map(({ text, page }) => [text, page]),
    pages.map((text, index) => [text, index + 1]),
  )
  t.ok(stages.some(([stage, done, total]) => stage === 'extract' && done === 3 && total === 3))
})

await t.test('docx: headings, paragraphs, lists and tables are kept', async (t) => {
  const table = `<w:tbl><w:tr><w:tc>${paragraph('red')}</w:tc><w:tc>${paragraph('7')}</w:tc></w:tr></w:tbl>`
  const body = [
    paragraph('Birds', 'Heading1'),
    paragraph('All of them fly &amp; sing.'),
    paragraph('Parrots', 'Heading2'),
    paragraph('Parrots are green.'),
    table,
  ].join('')
  const { all } = await read('birds.docx', zipOf(docxParts(body)))
  t.same(
    all.map(({ heading }) => heading),
    ['Birds', 'Birds > Parrots'],
  )
  t.match(all[0]?.text, /Birds\n+All of them fly & sing\./)
  t.match(all[1]?.text, /Parrots are green\.[^]*red[^]*7/)
})

await t.test('xlsx: groups of rows under the header, by sheet', async (t) => {
  const rows = Array.from({ length: 300 }, (_, index) =>
    sheetRow(index + 2, [`order ${index}`, index]),
  )
  const sheets = {
    Orders: [sheetRow(1, ['name', 'count']), ...rows].join(''),
    Notes: sheetRow(1, ['nothing']),
  }
  const { all } = await read('orders.xlsx', zipOf(xlsxParts(sheets)))
  const orders = all.filter(({ heading }) => heading === 'Orders')
  t.ok(orders.length > 1)
  t.ok(orders.every(({ text }) => text.startsWith('name | count\n')))
  t.ok(orders.at(-1)?.text.endsWith('order 299 | 299'))
  t.same(
    all.filter(({ heading }) => heading === 'Notes').map(({ text }) => text),
    ['nothing'],
  )
})

await t.test('csv, tsv: the header is repeated, whatever the delimiter', async (t) => {
  const rows = Array.from({ length: 300 }, (_, index) => `"order; ""${index}""";${index}`)
  const { all } = await read('orders.csv', ['name;count', ...rows].join('\r\n'))
  t.ok(all.length > 1)
  t.ok(all.every(({ text }) => text.startsWith('name | count\norder; "')))
  const tabs = await read('orders.tsv', 'name\tcount\nred, green\t7\n')
  t.equal(textOf(tabs), 'name | count\nred, green | 7 ')
})

await t.test('json: every value stands with its path', async (t) => {
  const value = { orders: [{ name: 'Ada', open: true }], note: 'a\u0000b\ud800', none: {} }
  const { all } = await read('orders.json', JSON.stringify(value))
  t.same(
    all.map(({ text }) => text),
    ['orders[0].name: Ada\norders[0].open: true\nnote: a\ufffdb\ufffd'],
  )
})

await t.test('html: what a reader sees, by section', async (t) => {
  const html = `<!doctype html><title>Birds &amp; fish</title><style>.no{}</style><h1>Birds</h1>
    <p>All <b>fly</b>.<script>var no = "</p>"</script><noscript>no</noscript><template>no</template>
    <h2>Parrots</h2><table><tr><td>green</td><td>7</td></tr></table>`
  const { all } = await read('birds.html', html)
  t.same(
    all.map(({ heading, text }) => [heading, text]),
    [
      [null, 'Birds & fish'],
      ['Birds', 'Birds\n\nAll fly.'],
      ['Birds > Parrots', 'Parrots\n\ngreen | 7'],
    ],
  )
})

await t.test('text: UTF-16 with its mark is read as such, and code as text', async (t) => {
  t.equal(textOf(await read('a.txt', Buffer.from('\ufeffGröße', 'utf16le'))), 'Größe')
  const code = await read('a.py', 'print("hello")')
  t.same([textOf(code), code.content_type], ['print("hello")', 'text/plain'])
})

await t.test('time that is spent in take is not the document’s', async (t) => {
  const ends: string[] = []
  const watch = watchLimits(undefined, { ...DEFAULT_LIMITS, wall: 300 }, (code) => ends.push(code))
  watch.pause()
  await new Promise((resolve) => setTimeout(resolve, 600))
  t.same(ends, [])
  watch.resume()
  await new Promise((resolve) => setTimeout(resolve, 600))
  watch.end()
  t.same(ends, ['timed_out'])
})

await t.test('no more children run at once than were asked for', async (t) => {
  let open = 0
  let most = 0
  const two = createFileProcessor({ children: 2 })
  t.teardown(() => two.close())
  const work = Array.from({ length: 5 }, (_, index) => {
    const task = taskOf(`${index}.txt`, 'text')
    const counted: FileTask = {
      ...task,
      async *open() {
        most = Math.max(most, ++open)
        yield* task.open()
      },
    }
    const take = (): void => {
      open--
    }
    return processAll({ processor: two }, counted, { take })
  })
  await Promise.all(work)
  t.equal(most, 2)
})
