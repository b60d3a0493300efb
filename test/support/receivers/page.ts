import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../arch/source.ts'

const PAGE = join(ROOT, 'docs/receivers.md')
const PROGRAMS = join(ROOT, 'test/support/receivers/programs')
const PORT_OF_THE_PAGE = '8080'

/**
 * The files that docs/receivers.md shows, under the names it gives them, and the programs that drive
 * them; all listen on `port`.
 */
export function filesOfPage(port: number): Record<string, string> {
  const shown = [...readFileSync(PAGE, 'utf8').matchAll(/^```\w+ (\S+\.\w+)\n([\s\S]*?)^```$/gm)]
  const files = [
    ...shown.map(([, name = '', text = '']) => [name, text] as const),
    ...readdirSync(PROGRAMS).map(
      (name) => [name, readFileSync(join(PROGRAMS, name), 'utf8')] as const,
    ),
  ]
  return Object.fromEntries(
    files.map(([name, text]) => [name, text.replaceAll(PORT_OF_THE_PAGE, String(port))]),
  )
}
