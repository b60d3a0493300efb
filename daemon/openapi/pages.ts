import type { ErrorRow } from '../../lib/errors.ts'
import type { ApiDocument } from '../docs/api-document.ts'
import { errorsPage } from '../docs/errors.ts'
import { referencePage } from '../docs/page.ts'
import { SCRIPT } from '../docs/script.ts'
import { STYLE } from '../docs/style.ts'
import type { Family } from '../operations/family.ts'
import { describeApi } from './document.ts'

export interface ApiPage {
  readonly type: string
  readonly body: string
  /** Its Content-Security-Policy. Default: nothing may be loaded. */
  readonly policy?: string
}

/** The pages only load style and script files of their own origin. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The API's documents: its description, its reference, and the target of every `doc_url`. */
export function apiPages(
  families: readonly Family[],
  rows: Readonly<Record<string, ErrorRow>>,
  baseUrl: string,
): Readonly<Record<string, ApiPage>> {
  const description = JSON.stringify(describeApi(families, rows, baseUrl))
  // The reference is built from the served description.
  const document = JSON.parse(description) as ApiDocument
  return {
    '/v1/openapi.json': { type: 'application/json; charset=utf-8', body: description },
    '/docs': { type: 'text/html; charset=utf-8', body: referencePage(document), policy: POLICY },
    '/docs/errors': { type: 'text/html; charset=utf-8', body: errorsPage(rows), policy: POLICY },
    '/docs/reference.css': { type: 'text/css; charset=utf-8', body: STYLE },
    '/docs/reference.js': { type: 'text/javascript; charset=utf-8', body: SCRIPT },
  }
}
