import type { ErrorRow } from '../../lib/errors.ts'
import type { Family } from '../family.ts'
import { describeApi } from './document.ts'
import { errorsPage } from '../docs/errors.ts'

/** The API's own documents: its description, and the page that every error's `doc_url` leads to. */
export function apiPages(
  families: readonly Family[],
  rows: Readonly<Record<string, ErrorRow>>,
  baseUrl: string,
): Readonly<Record<string, { readonly type: string; readonly body: string }>> {
  return {
    '/v1/openapi.json': {
      type: 'application/json; charset=utf-8',
      body: JSON.stringify(describeApi(families, rows, baseUrl)),
    },
    '/docs/errors': { type: 'text/html; charset=utf-8', body: errorsPage(rows) },
  }
}
