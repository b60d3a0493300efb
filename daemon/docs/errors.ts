import type { ErrorRow } from '../../lib/errors.ts'

type Rows = Readonly<Record<string, ErrorRow>>

/** The page of error codes, one anchor each: where every `doc_url` leads. */
export function errorsPage(rows: Rows): string {
  const entries = sorted(rows).map(
    ([code, { status, text }]) =>
      `<dt id="${code}"><code>${code}</code> (${status})</dt><dd>${escapeHtml(text)}</dd>`,
  )
  return [
    '<!doctype html>',
    '<html lang="en"><meta charset="utf-8"><title>Keyhook: error codes</title>',
    `<h1>Error codes</h1><dl>${entries.join('\n')}</dl></html>`,
  ].join('\n')
}

/** docs/errors.md */
export function errorsMarkdown(rows: Rows): string {
  return [
    '# Error codes',
    'A code never changes its meaning. Branch on `error.code`, show `error.message`.',
    ...sorted(rows).map(
      ([code, { status, text }]) => `<a id="${code}"></a>**\`${code}\`** (${status}): ${text}`,
    ),
  ].join('\n\n')
}

function sorted(rows: Rows): [string, ErrorRow][] {
  return Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1))
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
