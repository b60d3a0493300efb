import { FAMILIES } from '../../daemon/families/index.ts'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import t from 'tap'
import type { Schema } from '../support/openapi.ts'
import {
  DOCUMENTED,
  DOCUMENT_TEXT,
  faultsOf,
  faultsOfAnswer,
  faultsOfEvent,
  placeOfBody,
  resolveSchema,
} from '../support/openapi.ts'

/** What only reads is never answered from what is kept under an Idempotency-Key. */
const READS: ReadonlySet<string> = new Set(
  FAMILIES.flatMap(({ operations }) => operations)
    .filter(({ effect }) => effect === 'read')
    .map(({ id }) => id),
)

await t.test('the document lints clean by every recommended rule', async (t) => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: DOCUMENT_TEXT, config })
  t.same(
    problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    [],
  )
  const broken = await lintFromString({ source: DOCUMENT_TEXT.replace('"info"', '"inf"'), config })
  t.ok(broken.length > 0, 'and the rules are at work')
})

await t.test('every operation says its name, its purpose and who may call it', async (t) => {
  t.ok(DOCUMENTED.length > 0)
  for (const { operationId, summary, tags, security, method, path } of DOCUMENTED) {
    const place = `${method} ${path}`
    t.match({ operationId, summary }, { operationId: /^\w+\.\w+$/, summary: /^\S.*[^.\s]$/ }, place)
    t.equal(tags?.length, 1, place)
    // An empty list is the statement that nobody need say who they are; a missing one is none.
    t.ok(Array.isArray(security), place)
  }
})

await t.test('every operation documents its success and the refusals of its kind', async (t) => {
  for (const operation of DOCUMENTED) {
    const { operationId, responses, security = [], requestBody, method } = operation
    const statuses = Object.keys(responses)
    const [success, ...others] = statuses.filter((status) => status.startsWith('2'))
    t.ok(success, operationId)
    // What may still have to be carried out says so by a status of its own; a dry run is 200.
    t.ok(['', '201', '202', '206', '201,202'].includes(others.join()), operationId)
    const expected = [
      '400',
      '413',
      '500',
      '503',
      ...(security.length === 0 ? [] : ['401', '403']),
      ...(requestBody === undefined ? [] : ['415']),
      ...(method === 'POST' && !READS.has(operationId) ? ['409', '422'] : []),
    ]
    t.same(
      expected.filter((status) => !statuses.includes(status)),
      [],
      operationId,
    )
    for (const [status, { description, content }] of Object.entries(responses)) {
      const isEmpty = status === '304'
      t.ok(description !== '' && (content === undefined) === isEmpty, `${operationId} ${status}`)
    }
  }
})

/** The paths of texts in a schema that would allow U+0000, which no JSON body may hold. */
function textsWithNul(given: Schema, path: string): readonly string[] {
  const schema = resolveSchema(given)
  const { anyOf = [], oneOf = [], properties = {}, items } = schema
  const isBound =
    schema.enum !== undefined ||
    schema.const !== undefined ||
    schema.format !== undefined ||
    (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test('x\0'))
  return [
    ...(schema.type === 'string' && !isBound ? [path] : []),
    ...[...anyOf, ...oneOf].flatMap((one) => textsWithNul(one, path)),
    ...Object.entries(properties).flatMap(([name, one]) => textsWithNul(one, `${path}.${name}`)),
    ...(items === undefined ? [] : textsWithNul(items, `${path}[]`)),
  ]
}

await t.test('every text of a JSON body excludes U+0000', async (t) => {
  let bodies = 0
  for (const { operationId, requestBody } of DOCUMENTED) {
    const schema = requestBody?.content?.['application/json']?.schema
    if (schema === undefined) continue
    bodies += 1
    t.same(textsWithNul(schema, 'body'), [], operationId)
  }
  t.ok(bodies > 30, `${bodies} bodies`)
})

await t.test('every example satisfies the schema that it stands beside', async (t) => {
  for (const operation of DOCUMENTED) {
    const { operationId, responses, requestBody } = operation
    const request = requestBody?.content?.['application/json']?.example
    if (request !== undefined) {
      t.same(faultsOf(request, ...placeOfBody(operation), 'schema'), [], `${operationId}: body`)
    }
    for (const [status, { content }] of Object.entries(responses)) {
      if (status === '304') continue
      if (content?.['application/octet-stream'] !== undefined) continue
      if (content?.['text/event-stream'] !== undefined) continue
      const example = content?.['application/json']?.example
      t.ok(example !== undefined || Number(status) >= 400, `${operationId}: ${status} has one`)
      if (example === undefined) continue
      t.same(faultsOfAnswer(operation, Number(status), example), [], `${operationId}: ${status}`)
    }
    t.ok(
      faultsOfAnswer(operation, 400, { error: 'none' }).length > 0,
      `${operationId}: not anything goes`,
    )
  }
})

await t.test('the example of a stream is the data of one of its events', async (t) => {
  const streams = FAMILIES.flatMap(({ operations }) => operations).filter(
    ({ effect }) => effect === 'stream',
  )
  t.ok(streams.length > 0)
  for (const { id, output, example } of streams) {
    t.same(output.safeParse(example.response).error?.issues ?? [], [], id)
  }
})

await t.test('every example within a schema satisfies that schema', async (t) => {
  let examples = 0
  const visit = (value: unknown, place: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) return
    const { example } = value as Schema
    if (example !== undefined && place.at(-1) !== 'application/json') {
      examples += 1
      t.same(faultsOf(example, ...place), [], place.join(' '))
    }
    for (const [name, part] of Object.entries(value)) {
      if (name !== 'example') visit(part, [...place, name])
    }
  }
  visit(JSON.parse(DOCUMENT_TEXT), [])
  t.ok(examples > 0)
})

await t.test(
  'every event type of the service declares its data, as its sample has it',
  async (t) => {
    const events = FAMILIES.flatMap((family) => family.events)
    t.ok(events.length > 15)
    for (const { type, sample } of events) {
      t.same(faultsOfEvent({ type, data: sample }), [], type)
      t.not(faultsOfEvent({ type, data: {} }).length, 0, `${type}: not anything goes`)
      const more = faultsOfEvent({ type, data: { ...sample, since_next_version: 1 } })
      t.equal(more.length, 1, `${type}: declared exactly`)
      t.match(more[0], /since_next_version/, `${type}: and open for receivers`)
    }
  },
)

await t.test('the body and the data of an event have names, and reach no component', async (t) => {
  const { webhooks } = JSON.parse(DOCUMENT_TEXT) as {
    readonly webhooks: Readonly<Record<string, unknown>>
  }
  // Go's generator drops components to which no operation refers.
  t.notMatch(JSON.stringify(webhooks), '$ref')
  const schema = {
    title: 'AppRolledBackEvent',
    properties: {
      type: { const: 'app.rolled_back' },
      data: {
        title: 'AppRolledBackData',
        properties: {
          release: { type: 'integer', format: 'int64' },
          url: { type: ['string', 'null'] },
          trigger: { properties: { type: { enum: ['key', 'user', 'operator'] } } },
        },
      },
    },
  }
  t.match(webhooks['app.rolled_back'], {
    post: { requestBody: { content: { 'application/json': { schema } } } },
  })
})
