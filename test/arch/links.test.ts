import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { ROOT } from './source.ts'

const PAGES = ['README.md', ...markdownIn('docs'), ...markdownIn('test')]

/** `[text](target)` outside of code; a target without a scheme is a file, an anchor, or both. */
const LINK = /\[[^\]]*\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)/g

await t.test('a link of a page leads to a file and to a heading that exist', (t) => {
  const broken = PAGES.flatMap((page) =>
    [...proseOf(page).matchAll(LINK)]
      .filter(([, path = '', anchor]) => !leadsSomewhere(page, path, anchor))
      .map(([link]) => `${page}: ${link}`),
  )
  t.same(broken, [])
  t.end()
})

await t.test('a link to a missing file or heading is found', (t) => {
  t.notOk(leadsSomewhere('docs/start.md', 'no-such-page.md', undefined))
  t.notOk(leadsSomewhere('docs/start.md', 'concepts.md', 'no-such-heading'))
  t.ok(leadsSomewhere('docs/start.md', 'concepts.md', 'keys'))
  t.end()
})

await t.test('every page of docs is reached from the README', (t) => {
  const reached = new Set(['README.md'])
  for (const page of reached) {
    for (const [, path = ''] of proseOf(page).matchAll(LINK)) {
      if (path.endsWith('.md')) reached.add(normalize(join(dirname(page), path)))
    }
  }
  t.same(
    markdownIn('docs').filter((page) => !reached.has(page)),
    [],
  )
  t.end()
})

function markdownIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
    .sort()
}

function textOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}

function proseOf(page: string): string {
  return textOf(page)
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''))
}

function leadsSomewhere(page: string, path: string, anchor: string | undefined): boolean {
  const target = path === '' ? page : normalize(join(dirname(page), path))
  if (!existsSync(join(ROOT, target))) return false
  return anchor === undefined || anchorsOf(target).has(anchor)
}

/** The anchors that GitHub gives to headings, and those that a page names itself. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
  const named = [...textOf(page).matchAll(/<a id="([^"]+)">/g)].map(([, name = '']) => name)
  return new Set([...headings, ...named])
}
