/**
 * `npm run docs`: writes the generated pages of docs/.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FAMILIES, errorRows } from '../families/index.ts'
import { errorsMarkdown } from './errors.ts'
import { apiMarkdown, configMarkdown, eventsMarkdown } from './reference.ts'

/** The generated pages by file name. */
export const PAGES: Readonly<Record<string, string>> = {
  'api.md': apiMarkdown(FAMILIES),
  'config.md': configMarkdown(),
  'errors.md': errorsMarkdown(errorRows(FAMILIES)),
  'events.md': eventsMarkdown(FAMILIES),
}

const [, , folder] = process.argv
if (folder !== undefined && process.argv[1]?.endsWith('write.js') === true) {
  for (const [name, text] of Object.entries(PAGES)) writeFileSync(join(folder, name), `${text}\n`)
}
