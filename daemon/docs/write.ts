/**
 * `npm run docs`: writes the generated pages of docs/, and the routes of the client.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FAMILIES, errorRows } from '../families/index.ts'
import { errorsMarkdown } from './errors.ts'
import { eventsMarkdown } from './events.ts'
import { apiMarkdown, configMarkdown } from './reference.ts'
import { routesSource } from './routes.ts'

/** The generated pages by file name. */
export const PAGES: Readonly<Record<string, string>> = {
  'api.md': apiMarkdown(FAMILIES),
  'config.md': configMarkdown(),
  'errors.md': errorsMarkdown(errorRows(FAMILIES)),
  'events.md': eventsMarkdown(FAMILIES),
}

/** The generated sources, by path relative to docs/. */
export const SOURCES: Readonly<Record<string, string>> = {
  'daemon/client/routes.ts': routesSource(FAMILIES),
}

const [, , folder] = process.argv
if (folder !== undefined && process.argv[1]?.endsWith('write.js') === true) {
  for (const [name, text] of Object.entries(PAGES)) writeFileSync(join(folder, name), `${text}\n`)
  for (const [path, text] of Object.entries(SOURCES)) writeFileSync(join(folder, '..', path), text)
}
