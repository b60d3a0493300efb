import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { html } from '../docs/html.ts'

const VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/

/** Lists the versions whose pages are in the folder, the newest first, as its first page and as `versions.json`. */
export function writeVersions(folder: string): readonly string[] {
  const versions = readdirSync(folder)
    .filter((name) => VERSION.test(name))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  writeFileSync(join(folder, 'versions.json'), `${JSON.stringify(versions)}\n`)
  writeFileSync(join(folder, 'index.html'), printVersions(versions))
  return versions
}

function printVersions(versions: readonly string[]): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="${versions[0] ?? ''}/icon.svg" />
        <title>Keyhook: versions of the documentation</title>
      </head>
      <body>
        <main>
          <h1>Keyhook</h1>
          <p>The documentation by version, the newest first.</p>
          <ul>
            ${versions.map(
              (version) => html`<li><a href="${version}/index.html">${version}</a></li> `,
            )}
          </ul>
        </main>
      </body>
    </html> `.text
}
