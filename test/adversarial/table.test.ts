import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../arch/source.ts'
import { idsOf, printPage, SECTIONS } from './table.ts'

/** The formatter aligns columns; what they hold is what counts. */
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

await t.test('docs/security-cases.md is the table as it is', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/security-cases.md'), 'utf8')
  t.equal(unaligned(page), unaligned(printPage()))
})
