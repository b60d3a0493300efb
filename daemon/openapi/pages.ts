import type { ErrorRow } from '../../lib/errors.ts'
import type { ApiDocument } from '../docs/api-document.ts'
import { errorsPage } from '../docs/errors.ts'
import { referencePage } from '../docs/page.ts'
import { SCRIPT } from '../docs/script.ts'
import { STYLE } from '../docs/style.ts'
import { signatureVectors } from '../docs/vectors.ts'
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

/**
 * The API's documents: its description, its reference, the target of every `doc_url`, and the test vectors of
 * signatures, each built when first read.
 */
export function apiPages(
  families: readonly Family[],
  rows: Readonly<Record<string, ErrorRow>>,
  baseUrl: string,
): Readonly<Record<string, ApiPage>> {
  const description = once(() => JSON.stringify(describeApi(families, rows, baseUrl)))
  // The reference is built from the served description.
  const reference = once(() => referencePage(JSON.parse(description()) as ApiDocument))
  const errors = once(() => errorsPage(rows))
  const vectors = once(signatureVectors)
  const html = { type: 'text/html; charset=utf-8', policy: POLICY }
  return {
    '/v1/openapi.json': {
      type: 'application/json; charset=utf-8',
      get body() {
        return description()
      },
    },
    '/docs': {
      ...html,
      get body() {
        return reference()
      },
    },
    '/docs/errors': {
      ...html,
      get body() {
        return errors()
      },
    },
    '/docs/reference.css': { type: 'text/css; charset=utf-8', body: STYLE },
    '/docs/reference.js': { type: 'text/javascript; charset=utf-8', body: SCRIPT },
    '/docs/vectors/signature.json': {
      type: 'application/json; charset=utf-8',
      get body() {
        return vectors()
      },
    },
  }
}

function once(build: () => string): () => string {
  let built: string | undefined
  return () => (built ??= build())
}
