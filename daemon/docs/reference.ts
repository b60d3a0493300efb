import { SETTINGS } from '../config/settings.ts'
import { STATE_ONLY, operationsOf } from './state-only.ts'
import type { BuiltInEvent } from '../events/types.ts'
import type { Family, Operation } from '../operations/family.ts'

const EXAMPLE_EVENT = 'evt_01kg0b2cwr3v7m9q4t8x5z6n2d'
const EXAMPLE_INSTANT = '2026-01-31T12:00:00.000Z'

/** docs/config.md */
export function configMarkdown(): string {
  const rows = Object.values(SETTINGS).map(
    ({ env, doc, shown }) =>
      `| \`${env}\` | ${cell(doc)} | ${shown === '' ? '' : `\`${cell(shown)}\``} |`,
  )
  return [
    '# Configuration',
    'Settings come from the environment. Each may also be given as `<NAME>_FILE`, the path of a file that holds the value. A `KEYHOOK_` name that is not listed here is refused at start.',
    ['| setting | what it does | default |', '| --- | --- | --- |', ...rows].join('\n'),
  ].join('\n\n')
}

/** In a table a bar ends the cell, in code too. */
function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`)
}

/** docs/events.md */
export function eventsMarkdown(families: readonly Family[]): string {
  // A family that publishes a type comes before one that only names it, as in `createEventTypes`.
  const events = new Map<string, BuiltInEvent>()
  for (const event of families.flatMap((family) => family.events)) {
    if (!events.has(event.type)) events.set(event.type, event)
  }
  return [
    '# Events',
    'What the service itself publishes. A webhook receives the types that it names, those of a family (`app.*`, which needs `events:read`), or all of them (`*`). Each example is the whole body of the request, printed over several lines.',
    ...[...events.values()].map(({ type, description, sample }) => {
      const body = { id: EXAMPLE_EVENT, type, created_at: EXAMPLE_INSTANT, data: sample }
      const json = JSON.stringify(body, null, 2)
      return [`## ${type}`, description, `\`\`\`json\n${json}\n\`\`\``].join('\n\n')
    }),
  ].join('\n\n')
}

/** docs/api.md */
export function apiMarkdown(families: readonly Family[]): string {
  return [
    '# API',
    'Generated from the operations. The whole description is `GET /v1/openapi.json`, to be read at `GET /docs`; `keyhook/client` has a typed method for each that is no stream.',
    ...families.map(({ name, operations }) => {
      const rows = operations.map(
        (operation) =>
          `| \`${operation.method} ${operation.path}\` | ${accessOf(operation)} | ${operation.summary} | ${commandOf(operation)} |`,
      )
      const head = ['| operation | who | what | command |', '| --- | --- | --- | --- |']
      return [`## ${name}`, [...head, ...rows].join('\n')].join('\n\n')
    }),
    stateOnlyMarkdown(families.flatMap(({ operations }) => operations)),
  ].join('\n\n')
}

function stateOnlyMarkdown(operations: readonly Operation[]): string {
  const rows = STATE_ONLY.flatMap((row) => {
    const ids = operationsOf(row, operations).map((id) => `\`${id}\``)
    const place = row.location === undefined ? '' : `\`${row.location}\``
    return ids.length === 0
      ? []
      : [`| \`${row.code}\` | ${place} | ${ids.join(', ')} | ${row.reason} |`]
  })
  return [
    '## Refused although the document allows it',
    'Everything else that is refused as malformed, the schemas of `GET /v1/openapi.json` forbid.',
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
