import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../arch/source.ts'

const PAGES = join(ROOT, 'docs/receivers')
const PROGRAMS = join(ROOT, 'test/support/receivers/programs')
const PORT_OF_THE_PAGES = '8080'

/**
 * The files that the pages of docs/receivers show, under the names they give them, and the programs that
 * drive them; all listen on `port`.
 */
export function filesOfPages(port: number): Record<string, string> {
  const pages = readdirSync(PAGES).map((name) => readFileSync(join(PAGES, name), 'utf8'))
  const shown = pages.flatMap((page) => [...page.matchAll(/^```\w+ (\S+\.\w+)\n([\s\S]*?)^```$/gm)])
  const files = [
    ...shown.map(([, name = '', text = '']) => [name, text] as const),
    ...readdirSync(PROGRAMS).map(
      (name) => [name, readFileSync(join(PROGRAMS, name), 'utf8')] as const,
    ),
  ]
  return Object.fromEntries(
    files.map(([name, text]) => [name, text.replaceAll(PORT_OF_THE_PAGES, String(port))]),
  )
}
