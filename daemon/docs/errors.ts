import type { ErrorRow } from '../../lib/errors.ts'
import { html } from './html.ts'

type Rows = Readonly<Record<string, ErrorRow>>

/** The page of error codes, with one anchor each: the target of every `doc_url`. */
export function errorsPage(rows: Rows): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Keyhook: error codes</title>
        <link rel="stylesheet" href="reference.css" />
      </head>
      <body>
        <main>
          <h1>Error codes</h1>
          <p>A code never changes its meaning. <a href="../docs">API reference</a></p>
          ${sorted(rows).map(
            ([code, { status, text }]) =>
              html`<article id="${code}">
                <h3>
                  <a href="#${code}"><code>${code}</code></a>
                </h3>
                <p class="facts">Status ${status}</p>
                <p>${text}</p>
              </article> `,
          )}
        </main>
      </body>
    </html> `.text
}

/** docs/errors.md */
export function errorsMarkdown(rows: Rows): string {
  return [
    '# Error codes',
    'A code never changes its meaning. Branch on `error.code`, show `error.message`.',
    'Where fields are at fault, `error.errors` names each with its `location`, `code` and `message`: `missing_field`, `unknown_field`, `invalid_type`, `invalid_format`, `invalid_value`, `too_small`, `too_big`, `duplicate`, or one that says more about the field.',
    ...sorted(rows).map(
      ([code, { status, text }]) =>
        `<a id="${code}"></a>**\`${code}\`** (${status}): ${literal(text)}`,
    ),
  ].join('\n\n')
}

/** Text in which Markdown finds no emphasis. */
function literal(text: string): string {
  return text.replaceAll(/[*_]/g, '\\$&')
}

function sorted(rows: Rows): [string, ErrorRow][] {
  return Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1))
}
