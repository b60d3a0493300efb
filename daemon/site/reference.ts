import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiDocument } from '../docs/api-document.ts'
import { referencePage } from '../docs/page.ts'
import { SCRIPT } from '../docs/script.ts'
import { STYLE } from '../docs/style.ts'
import { FAMILIES, errorRows } from '../families/index.ts'
import { describeApi } from '../openapi/document.ts'

/** Where the daemon serves what the reference refers to, and where the site has it; its icon is not the brand's. */
const ADDRESSES: readonly (readonly [daemon: string, site: string])[] = [
  ['"docs/errors#', '"../errors.html#'],
  ['"docs/errors"', '"../errors.html"'],
  ['"docs/reference.', '"reference.'],
  ['"v1/openapi.json"', '"openapi.json"'],
  ['</title>', '</title><link rel="icon" href="../icon.svg" />'],
]

/** Writes the reference of the API that a daemon serves at `/docs`, and the OpenAPI document, into a folder. */
export function writeReference(folder: string): void {
  const document = JSON.stringify(
    describeApi(FAMILIES, errorRows(FAMILIES), 'http://127.0.0.1:8420'),
    null,
    2,
  )
  const page = ADDRESSES.reduce(
    (text, [daemon, site]) => text.replaceAll(daemon, site),
    referencePage(JSON.parse(document) as ApiDocument),
  )
  mkdirSync(folder, { recursive: true })
  const files = {
    'index.html': page,
    'openapi.json': document,
    'reference.css': STYLE,
    'reference.js': SCRIPT,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
}
