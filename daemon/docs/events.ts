import { payloadSchemaOf } from '../events/payload.ts'
import type { BuiltInEvent } from '../events/types.ts'
import { eventsByType } from '../events/types.ts'
import { simplify } from '../openapi/simplify.ts'
import type { Family } from '../operations/family.ts'
import type { Schema } from './api-document.ts'
import { WORDS } from './fields.ts'
import { cell } from './reference.ts'

const EXAMPLE_EVENT = 'evt_01kg0b2cwr3v7m9q4t8x5z6n2d'
const EXAMPLE_INSTANT = '2026-01-31T12:00:00.000Z'

/** docs/events.md */
export function eventsMarkdown(families: readonly Family[]): string {
  const events = eventsByType(families.flatMap((family) => family.events))
  return [
    '# Events',
    'Events that the service publishes. A webhook receives the types that it names, those of a family (`app.*`, which needs `events:read`), or all of them (`*`). Each example is the whole body of the request, with line breaks added; each table has the fields of its `data`. Later versions may add fields: ignore those that you do not know. `webhooks` of the [OpenAPI document](other-languages.md#generate-a-client) has the same for generators of code.',
    ...[...events.values()].map(eventMarkdown),
  ].join('\n\n')
}

function eventMarkdown(event: BuiltInEvent): string {
  const { type, description, sample } = event
  const body = { id: EXAMPLE_EVENT, type, created_at: EXAMPLE_INSTANT, data: sample }
  const json = JSON.stringify(body, null, 2)
  const schema = simplify(payloadSchemaOf(event)) as Schema | undefined
  const rows = schema === undefined ? [] : rowsOf(schema, '')
  const table = ['| field | value | meaning |', '| --- | --- | --- |', ...rows].join('\n')
  const fields = rows.length === 0 ? [] : [table]
  return [`## ${type}`, description, `\`\`\`json\n${json}\n\`\`\``, ...fields].join('\n\n')
}

/** A line for each field, with the fields of an object below it. */
function rowsOf({ properties = {} }: Schema, above: string): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) => [
    `| \`${above}${name}\` | ${cell(valueOf(schema))} | ${cell(schema.description ?? '')} |`,
    ...rowsOf(schema, `${above}${name}.`),
  ])
}

function valueOf({ anyOf, enum: values, type = 'any', format }: Schema): string {
  if (anyOf !== undefined) return anyOf.map(valueOf).join(' or ')
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(', ')
  const types = typeof type === 'string' ? [type] : type
  return types
    .map((one) => (one === 'string' && format === 'date-time' ? 'instant' : (WORDS[one] ?? one)))
    .join(' or ')
}
