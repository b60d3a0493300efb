import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import t from 'tap'
import type { TemplateFile } from '../../daemon/families/apps/templates.ts'
import { readTemplates } from '../../daemon/families/apps/templates.ts'
import { importsIn } from '../arch/source.ts'
import { elementsOf, filesOf, templates, textOf } from '../support/templates.ts'

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

/** What a file names by an address: pages and style sheets by attribute and `url()`, scripts by module. */
async function referencesOf(file: TemplateFile): Promise<readonly string[]> {
  const text = textOf(file)
  if (file.path.endsWith('.html')) {
    const elements = elementsOf(text)
    return elements.flatMap(({ attributes }) =>
      ['href', 'src', 'action', 'poster', 'data', 'srcset', 'formaction'].flatMap(
        (name) => attributes.get(name) ?? [],
      ),
    )
  }
  if (file.path.endsWith('.css')) {
    return [...text.matchAll(/url\(['"]?([^'")]*)|@import\s+['"]([^'"]*)/g)].map(
      ([, url, sheet]) => url ?? sheet ?? '',
    )
  }
  if (!file.path.endsWith('.js')) return []
  return [
    ...importsIn(file.path, text),
    ...[...text.matchAll(/new URL\('([^']*)'/g)].map(([, url]) => url ?? ''),
  ]
}

await t.test('there are templates, each with a page to open, read once', async (t) => {
  t.same(
    templates.map(({ id }) => id),
    ['blank', 'dashboard', 'landing', 'notes'],
  )
  t.equal(await readTemplates(), templates)
  for (const { id, name, description, entry, files } of templates) {
    const paths = files.map(({ path }) => path)
    t.ok(name.length > 0 && name.length <= 60 && description.length <= 140, `${id}: words`)
    t.ok(paths.includes(entry), `${id}: ${entry}`)
    t.notOk(paths.includes('template.json'), `${id}: the manifest stays out`)
    t.same(paths, paths.toSorted(), `${id}: sorted`)
    t.ok(
      paths.every((path) => /^[a-z0-9./-]+$/.test(path)),
      `${id}: plain paths`,
    )
  }
})

await t.test('a template is small and its scripts are readable', async (t) => {
  for (const template of templates) {
    const { id, files } = template
    t.ok(sum(files.map(({ bytes }) => bytes.length)) < 30_000, `${id}: size`)
    for (const file of filesOf(template, '.js')) {
      const text = textOf(file)
      t.same(parseSync(file.path, text).errors, [], `${id}/${file.path}: syntax`)
      t.ok(text.split('\n').length <= 250, `${id}/${file.path}: length`)
    }
  }
})

await t.test('every reference stays within the tree, and every file is referred to', async (t) => {
  for (const { id, entry, files } of templates) {
    const found = new Set([entry])
    for (const file of files) {
      for (const reference of await referencesOf(file)) {
        if (/^(#|mailto:[\w.]+@example\.com$)/.test(reference)) continue
        t.notMatch(reference, /^(\/|\w+:|$)/, `${id}/${file.path}: ${reference} is relative`)
        found.add(posix.join(posix.dirname(file.path), reference))
      }
    }
    t.same([...found].toSorted(), files.map(({ path }) => path).toSorted(), id)
  }
})

await t.test('no file names another server', async (t) => {
  for (const { id, files } of templates) {
    for (const file of files) {
      const text = textOf(file).replaceAll('http://www.w3.org/2000/svg', '')
      t.notMatch(text, /\b(https?|wss?|ftp|data|javascript):|["'(]\/\//i, `${id}/${file.path}`)
    }
  }
})

await t.test('a strict content security policy breaks nothing', async (t) => {
  const names = elementsOf('<svg><style></style></svg>').map(({ name }) => name)
  t.same(names, ['svg', 'style'], 'what is in an image is seen too')
  const unsafe =
    /\beval\(|\bFunction\(|\.(inner|outer)HTML|insertAdjacentHTML|document\.write|setAttribute\('(style|on)|cssText|set(Timeout|Interval)\(['"`]/
  for (const template of templates) {
    for (const page of [...filesOf(template, '.html'), ...filesOf(template, '.svg')]) {
      for (const { name, attributes, text } of elementsOf(textOf(page))) {
        const label = `${template.id}/${page.path}: ${name}`
        t.not(name, 'style', label)
        if (name === 'script') t.ok(attributes.has('src') && text.trim() === '', label)
        t.same(
          [...attributes.keys()].filter((key) => /^(style|on\w+|srcdoc)$/.test(key)),
          [],
          label,
        )
      }
    }
    for (const file of filesOf(template, '.js')) {
      t.notMatch(textOf(file), unsafe, `${template.id}/${file.path}`)
    }
  }
})

const scriptOf = (path: string): Promise<unknown> =>
  import(new URL(`../../daemon/families/apps/templates/${path}`, import.meta.url).href)

await t.test('the dashboard reads what spreadsheets write', async (t) => {
  const { parseCsv } = (await scriptOf('dashboard/csv.js')) as {
    parseCsv(text: string): {
      columns: readonly { name: string; isNumber: boolean }[]
      rows: readonly (readonly (string | number | null)[])[]
    }
  }
  const excel = parseCsv('\uFEFFname;;price\r\n"a;""b""\nc";x;1,5\r\n\r\nd;;\r\n')
  t.same(excel.rows, [
    ['a;"b"\nc', 'x', 1.5],
    ['d', '', null],
  ])
  t.same(
    excel.columns.map(({ name, isNumber }) => [name, isNumber]),
    [
      ['name', false],
      ['Column 2', false],
      ['price', true],
    ],
  )
  t.same(parseCsv('a,b\n1,2\n3,x,4').rows, [
    [1, '2'],
    [3, 'x'],
  ])
  t.throws(() => parseCsv('a,b'), /at least one line/)
  t.throws(() => parseCsv('a\n"b'), /never closed/)

  const dashboard = templates.find(({ id }) => id === 'dashboard')
  const sample = dashboard?.files.find(({ path }) => path === 'sample.csv')
  const { columns, rows } = parseCsv(sample ? textOf(sample) : '')
  t.same([columns.length, rows.length], [4, 48])
})

await t.test('notes are kept in memory where the browser keeps nothing', async (t) => {
  interface Note {
    readonly id: string
    readonly title: string
    readonly text: string
    readonly changed: number
  }
  const store = (await scriptOf('notes/store.js')) as {
    readNotes(): readonly Note[]
    writeNotes(notes: readonly Note[]): boolean
    parseNotes(json: string): readonly Note[]
    printNotes(notes: readonly Note[]): string
    merge(notes: readonly Note[], imported: readonly Note[]): readonly Note[]
    searchNotes(notes: readonly Note[], query: string): readonly Note[]
  }
  const older = { id: 'a', title: 'Shopping', text: 'bread', changed: 1 }
  const newer = { ...older, text: 'bread, milk', changed: 2 }
  const other = { id: 'b', title: 'Ideas', text: '<b>', changed: 3 }
  t.equal(store.writeNotes([older, other]), false)
  t.same(store.readNotes(), [other, older])
  t.same(store.merge([older, other], [newer]), [other, newer])
  t.same(store.merge([newer], [older]), [newer])
  t.same(store.searchNotes([older, other], ' BREAD shop '), [older])
  t.same(store.parseNotes(store.printNotes([older, other])), [older, other])
  for (const bad of ['', '{}', '[1]', '[null]', JSON.stringify([{ ...older, changed: 1e300 }])]) {
    t.throws(() => store.parseNotes(bad))
  }
})

await t.test('the business page knows its hours and writes a mail', async (t) => {
  const { clockIn, openState } = (await scriptOf('landing/hours.js')) as {
    clockIn(zone: string, now: Date): { day: string; time: string }
    openState(time: string, times: readonly string[]): string
  }
  const { composeMail } = (await scriptOf('landing/mail.js')) as {
    composeMail(address: string, fields: Readonly<Record<string, string>>): string
  }
  t.same(clockIn('Asia/Tokyo', new Date('2030-01-06T15:00:00Z')), { day: 'Mon', time: '00:00' })
  t.match(openState('08:59', ['09:00', '17:00']), /Open today from 09:00/)
  t.equal(openState('09:00', ['09:00', '17:00']), 'Open now, until 17:00.')
  t.match(openState('17:00', ['09:00', '17:00']), /^Closed now/)
  t.equal(openState('12:00', []), 'Closed today.')
  const mail = composeMail('mailto:hello@example.com', {
    name: 'A & B',
    topic: 'A question',
    message: 'One?\nTwo',
  })
  const query = new URL(mail).searchParams
  t.equal(query.get('subject'), 'A question from A & B')
  t.equal(query.get('body'), 'One?\r\nTwo\r\n\r\nA & B')
  t.notMatch(mail, /\+/)
})
