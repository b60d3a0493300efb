import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FormatConfig } from 'oxfmt'
import { format } from 'oxfmt'
import { ROOT } from '../arch/source.ts'

const options = JSON.parse(readFileSync(join(ROOT, '.oxfmtrc.json'), 'utf8')) as FormatConfig

/** A file's text as `npm run format` leaves it. Throws for one that it cannot read. */
export async function formatted(path: string, text: string): Promise<string> {
  const { code, errors } = await format(path, text, options)
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'))
  return code
}
