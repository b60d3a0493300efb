import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../arch/source.ts'
import { idsOf, printTable, SECTIONS } from './table.ts'

const HEADING = '\n## The adversarial table\n'

/** Prettier aligns columns; what they hold is what counts. */
function unaligned(markdown: string): string {
  return markdown.replace(/ +\|/g, ' |').replace(/-{2,}/g, '-').trim()
}

await t.test('every section holds each of its ids once, in order', async (t) => {
  for (const section of SECTIONS) {
    t.same(
      section.rows.map(({ id }) => id),
      idsOf(section),
    )
  }
})

await t.test('docs/security.md ends with the table as it is', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8')
  const printed = page.slice(page.indexOf(HEADING) + HEADING.length)
  const [, ...sections] = unaligned(printed).split(/^(?=### )/m)
  t.equal(sections.join('').trim(), unaligned(printTable()))
})
