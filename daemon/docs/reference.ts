import { SETTINGS } from '../config/settings.ts'
import { STATE_ONLY, operationsOf } from './state-only.ts'
import type { Family } from '../operations/family.ts'
import type { Operation } from '../operations/operation.ts'

/** docs/config.md */
export function configMarkdown(): string {
  const rows = Object.values(SETTINGS).map(
    ({ env, doc, shown }) =>
      `| \`${env}\` | ${cell(doc)} | ${shown === '' ? '' : `\`${cell(shown)}\``} |`,
  )
  return [
    '# Configuration',
    'Settings come from the environment. Each may also be given as `<NAME>_FILE`, the path of a file that holds the value. An unknown `KEYHOOK_` name is refused at start.',
    ['| setting | meaning | default |', '| --- | --- | --- |', ...rows].join('\n'),
  ].join('\n\n')
}

/** A bar ends a table cell, also within code. */
export function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`)
}

/** docs/api.md */
export function apiMarkdown(families: readonly Family[]): string {
  return [
    '# API',
    'Generated from the operations. `GET /v1/openapi.json` is the OpenAPI document, `GET /docs` shows it as a page, and `keyhook/client` has a typed method for each operation that is not a stream.',
    ...families.map(({ name, operations }) => {
      const rows = operations.map(
        (operation) =>
          `| \`${operation.method} ${operation.path}\` | ${accessOf(operation)} | ${operation.summary} | ${commandOf(operation)} |`,
      )
      const head = ['| operation | caller | effect | command |', '| --- | --- | --- | --- |']
      return [`## ${name}`, [...head, ...rows].join('\n')].join('\n\n')
    }),
    stateOnlyMarkdown(families.flatMap(({ operations }) => operations)),
  ].join('\n\n')
}

function stateOnlyMarkdown(operations: readonly Operation[]): string {
  const rows = STATE_ONLY.flatMap((row) => {
    const ids = operationsOf(row, operations).map((id) => `\`${id}\``)
    const location = row.location === undefined ? '' : `\`${row.location}\``
    return ids.length === 0
      ? []
      : [`| \`${row.code}\` | ${location} | ${ids.join(', ')} | ${row.reason} |`]
  })
  return [
    '## Refused although the document allows it',
    'The schemas of `GET /v1/openapi.json` forbid every other malformed request.',
    [
      '| code | at | operations | what a schema cannot say |',
      '| --- | --- | --- | --- |',
      ...rows,
    ].join('\n'),
  ].join('\n\n')
}

function accessOf({ access }: Operation): string {
  return typeof access === 'object' ? `\`${access.scope}\`` : access
}

function commandOf({ command }: Operation): string {
  return command === undefined ? '' : `\`keyhook ${command}\``
}
