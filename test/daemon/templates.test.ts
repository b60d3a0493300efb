import { posix } from 'node:path'
import type { ParserOptions } from 'prettier'
import { parsers } from 'prettier/plugins/html'
import t from 'tap'
import ts from 'typescript'
import type { Template, TemplateFile } from '../../daemon/families/apps/templates.ts'
import { readTemplates } from '../../daemon/families/apps/templates.ts'

interface HtmlNode {
  readonly name?: string
  readonly value?: string
  readonly attrs?: readonly { readonly name: string; readonly value: string | null }[]
  readonly children?: readonly HtmlNode[]
}

interface Element {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly text: string
}

const templates = await readTemplates()

const textOf = ({ bytes }: TemplateFile): string => Buffer.from(bytes).toString('utf8')
const filesOf = (template: Template, ending: string): readonly TemplateFile[] =>
  template.files.filter(({ path }) => path.endsWith(ending))
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

/** The elements of a page in their order. Throws where a tag is not closed or closes nothing. */
async function elementsOf(html: string): Promise<readonly Element[]> {
  const root = (await parsers.html.parse(html, {} as ParserOptions)) as HtmlNode
  const elements: Element[] = []
  function visit(node: HtmlNode): void {
    const attributes = new Map(node.attrs?.map(({ name, value }) => [name, value ?? '']))
    if (node.attrs) elements.push({ name: node.name ?? '', attributes, text: textWithin(node) })
    node.children?.forEach(visit)
  }
  visit(root)
  return elements
}

const textWithin = ({ value = '', children = [] }: HtmlNode): string =>
  value + children.map(textWithin).join('')

/** What a file names by an address: pages and style sheets by attribute and `url()`, scripts by module. */
async function referencesOf(file: TemplateFile): Promise<readonly string[]> {
  const text = textOf(file)
  if (file.path.endsWith('.html')) {
    const elements = await elementsOf(text)
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
  const modules = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName)
  return [...modules, ...[...text.matchAll(/new URL\('([^']*)'/g)].map(([, url]) => url ?? '')]
}

interface Rule {
  /** The conditions and the selector it stands in, from the outside. */
  readonly within: readonly string[]
  readonly declarations: ReadonlyMap<string, string>
}

function rulesOf(css: string): readonly Rule[] {
  const rules: Rule[] = []
  const within: string[] = []
  let declarations = new Map<string, string>()
  for (const [, text = '', sign] of css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .matchAll(/([^{};]*)([{};])/g)) {
    const [name = '', ...value] = text.trim().split(':')
    if (sign === '{') within.push(text.trim())
    else if (name !== '') declarations.set(name, value.join(':').trim())
    if (sign !== '}') continue
    if (declarations.size > 0) rules.push({ within: [...within], declarations })
    declarations = new Map()
    within.pop()
  }
  return rules
}

const styleOf = (template: Template): readonly Rule[] =>
  filesOf(template, '.css').flatMap((file) => rulesOf(textOf(file)))

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
      const { diagnostics } = ts.transpileModule(text, {
        fileName: file.path,
        reportDiagnostics: true,
        compilerOptions: { allowJs: true, module: ts.ModuleKind.ESNext },
      })
      const faults = (diagnostics ?? []).map(({ messageText }) => messageText)
      t.same(faults, [], `${id}/${file.path}: syntax`)
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
  const unsafe =
    /\beval\(|\bFunction\(|\.(inner|outer)HTML|insertAdjacentHTML|document\.write|setAttribute\('(style|on)|cssText|set(Timeout|Interval)\(['"`]/
  for (const template of templates) {
    for (const page of [...filesOf(template, '.html'), ...filesOf(template, '.svg')]) {
      for (const { name, attributes, text } of await elementsOf(textOf(page))) {
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

await t.test('a page says what it is', async (t) => {
  for (const template of templates) {
    for (const page of filesOf(template, '.html')) {
      const html = textOf(page)
      const elements = await elementsOf(html)
      const label = `${template.id}/${page.path}`
      const all = (name: string): readonly Element[] => elements.filter((one) => one.name === name)
      const meta = (name: string): string | undefined =>
        all('meta')
          .find(({ attributes }) => attributes.get('name') === name)
          ?.attributes.get('content')
      t.match(html, /^<!doctype html>/, label)
      t.equal(all('html')[0]?.attributes.get('lang'), 'en', label)
      t.equal(meta('viewport'), 'width=device-width, initial-scale=1', label)
      t.ok(meta('description'), label)
      t.ok(all('title')[0]?.text, label)
      t.equal(all('main').length, 1, label)
      const levels = elements.flatMap(({ name }) => /^h([1-6])$/.exec(name)?.[1] ?? []).map(Number)
      t.equal(levels.filter((level) => level === 1).length, 1, `${label}: one h1`)
      t.ok(
        levels.every((level, index) => level <= (levels[index - 1] ?? 0) + 1),
        `${label}: no heading level is skipped`,
      )
    }
  }
})

await t.test('everything on a page has a name that can be read aloud', async (t) => {
  for (const template of templates) {
    for (const page of filesOf(template, '.html')) {
      const elements = await elementsOf(textOf(page))
      const ids = elements.flatMap(({ attributes }) => attributes.get('id') ?? [])
      const labelled = elements.flatMap(({ name, attributes }) =>
        name === 'label' ? (attributes.get('for') ?? []) : [],
      )
      t.equal(new Set(ids).size, ids.length, `${template.id}: ids are unique`)
      for (const { name, attributes, text } of elements) {
        const label = `${template.id}/${page.path}: ${name} ${attributes.get('id') ?? ''}`
        if (name === 'img') t.ok(attributes.has('alt'), label)
        if (name === 'button' || name === 'a') t.ok(text.trim(), label)
        if (name === 'button') t.ok(attributes.has('type'), label)
        if (['input', 'select', 'textarea'].includes(name)) {
          t.ok(labelled.includes(attributes.get('id') ?? ''), label)
        }
        const pointers = ['for', 'aria-labelledby', 'aria-describedby', 'aria-controls']
        const targets = pointers.flatMap((key) => attributes.get(key)?.split(' ') ?? [])
        const fragment = /^#(.+)/.exec(attributes.get('href') ?? '')?.[1]
        for (const target of [...targets, fragment ?? []].flat()) {
          t.ok(ids.includes(target), `${label} -> ${target}`)
        }
      }
    }
  }
})

await t.test('nothing moves for who asked for less motion, and focus stays visible', async (t) => {
  for (const template of templates) {
    for (const { within, declarations } of styleOf(template)) {
      const label = `${template.id}: ${within.join(' ')}`
      const moves = ['transition', 'animation', 'scroll-behavior'].some((key) =>
        declarations.has(key),
      )
      const calm = within.includes('@media (prefers-reduced-motion: no-preference)')
      t.ok(!moves || calm, label)
      // What a link within the page leads to takes the focus without being a control.
      const outline = declarations.get('outline')
      t.ok(outline !== 'none' || within.at(-1) === 'main:focus', label)
    }
  }
})

type Rgb = readonly [number, number, number]

function rgbOf(colour: string): Rgb {
  const [, red, green, blue] = /^#(\w\w)(\w\w)(\w\w)$/.exec(colour) ?? []
  if (!red || !green || !blue) throw new TypeError(`Not a colour of six digits: ${colour}`)
  return [Number(`0x${red}`), Number(`0x${green}`), Number(`0x${blue}`)]
}

/** Relative luminance and contrast as WCAG 2.2 defines them. */
function luminance(colour: string): number {
  const [red, green, blue] = rgbOf(colour).map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0)
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

await t.test('colours are readable on light and on dark screens', async (t) => {
  t.equal(contrast('#000000', '#ffffff'), 21)
  const paint = /^(color|background|background-color|fill|border-color)$/
  for (const template of templates) {
    const rules = styleOf(template)
    const named = (condition: string | undefined): readonly [string, string][] =>
      rules
        .filter(({ within }) => within.at(-1) === ':root' && within.at(-2) === condition)
        .flatMap(({ declarations }) => [...declarations])
        .filter(([name]) => name.startsWith('--'))
    const light = new Map(named(undefined))
    const dark = new Map([...light, ...named('@media (prefers-color-scheme: dark)')])
    t.notSame([...light], [...dark], `${template.id}: has a dark side`)

    const used = (property: RegExp): ReadonlySet<string> =>
      new Set(
        rules.flatMap(({ declarations }) =>
          [...declarations].flatMap(([key, value]) =>
            property.test(key) ? (/^var\((--[\w-]+)\)$/.exec(value)?.[1] ?? []) : [],
          ),
        ),
      )
    for (const { within, declarations } of rules) {
      for (const [key, value] of declarations) {
        if (!paint.test(key) || within.at(-1)?.endsWith('::backdrop')) continue
        if (!/^(var\(--[\w-]+\)|none)$/.test(value)) t.fail(`${template.id}: ${key}: ${value}`)
        const own = value.replace('var(--', '--on-').replace(')', '')
        if (!key.startsWith('background') || !light.has(own)) continue
        t.equal(declarations.get('color'), `var(${own})`, `${template.id}: text on ${value}`)
      }
    }
    for (const [scheme, colours] of Object.entries({ light, dark })) {
      const colour = (name: string): string => colours.get(name) ?? ''
      for (const ground of used(/^background(-color)?$/)) {
        const own = ground.replace('--', '--on-')
        const texts = colours.has(own)
          ? [own]
          : [...used(/^color$/)].filter((name) => !name.startsWith('--on-'))
        const shapes = colours.has(own) ? [] : ['--control', '--focus', '--series', '--danger']
        for (const [names, least] of [[texts, 4.5] as const, [shapes, 3] as const]) {
          for (const name of names.filter((one) => colours.has(one))) {
            const ratio = contrast(colour(name), colour(ground))
            const label = `${template.id}, ${scheme}: ${name} on ${ground} is ${ratio.toFixed(2)}`
            t.ok(ratio >= least, label)
          }
        }
      }
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
