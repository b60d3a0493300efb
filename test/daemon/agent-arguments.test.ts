import t from 'tap'
import type { SplitArguments } from '../../daemon/agents/arguments.ts'
import { splitArguments } from '../../daemon/agents/arguments.ts'
import { createWorkFinder } from '../../daemon/agents/follow.ts'
import type { ToolSpec } from '../../daemon/agents/tools.ts'
import { toolsOf } from '../../daemon/agents/tools.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import type { GivenPart } from '../../daemon/operations/parts.ts'

const tools = new Map(toolsOf(FAMILIES).map((tool) => [tool.name, tool]))

function tool(name: string): ToolSpec {
  const found = tools.get(name)
  if (found === undefined) throw new Error(`no tool ${name}`)
  return found
}

function split(name: string, given: Record<string, unknown>, text?: string): SplitArguments {
  return splitArguments(tool(name), given, text)
}

await t.test('arguments become the parts of a request', async (t) => {
  t.match(
    split('edits_create', {
      app_id: 'shop1',
      prompt: 'Make it green',
      wait: 5,
      dry_run: true,
      idempotency_key: 'one',
    }),
    {
      params: { app_id: 'shop1' },
      query: { wait: '5', dry_run: 'true' },
      body: { value: { prompt: 'Make it green' }, text: '{"prompt":"Make it green"}' },
      parts: undefined,
      idempotencyKey: 'one',
    },
  )
  t.same(split('apps_list', {}).body, undefined)
  t.same(split('edits_cancel', { app_id: 'a', edit_id: 'b' }).body, undefined, 'it is optional')
  t.same(split('apps_update', { app_id: 'a' }).body, { value: {}, text: '{}' }, 'it is judged')
})

await t.test('numbers and booleans of a query are those of JSON', async (t) => {
  const { properties } = tool('edits_create').listed.inputSchema
  t.match(properties, {
    wait: { type: 'integer' },
    dry_run: { type: 'boolean', default: false },
  })
  t.match(tool('apps_list').listed.inputSchema.properties, {
    limit: { type: 'integer' },
    cursor: { type: 'string' },
  })
})

await t.test('a body that is one argument is kept to the byte', async (t) => {
  const text = '{ "body": {"type":"order.paid","data":{"2":1,"1":12345678901234567890}} }'
  const given = JSON.parse(text) as Record<string, unknown>
  t.equal(
    split('events_publish', given, text).body?.text,
    '{"type":"order.paid","data":{"2":1,"1":12345678901234567890}}',
  )
})

await t.test('what is no argument is refused, by its name', async (t) => {
  const refused = (
    name: string,
    given: Record<string, unknown>,
    errors: readonly object[],
  ): void => {
    t.throws(() => split(name, given), { code: 'invalid_request', errors }, JSON.stringify(given))
  }
  refused('apps_get', {}, [{ location: 'arguments.app_id', code: 'missing_field' }])
  refused('apps_get', { app_id: 7 }, [{ location: 'arguments.app_id', code: 'invalid_type' }])
  refused('apps_get', { app_id: 'a', __proto: 1 }, [
    { location: 'arguments.__proto', code: 'unknown_field' },
  ])
  refused('apps_list', { format: 'csv' }, [{ location: 'arguments.format', code: 'unknown_field' }])
  refused('keys_create', { name: 'x', idempotency_key: 1 }, [
    { location: 'arguments.idempotency_key', code: 'invalid_type' },
  ])
})

async function partsIn({ parts }: SplitArguments): Promise<readonly object[]> {
  const read: object[] = []
  for await (const part of parts ?? []) read.push(await readPart(part))
  return read
}

async function readPart(part: GivenPart): Promise<object> {
  if (part.kind === 'text') return part
  const pieces: Uint8Array[] = []
  for await (const piece of part.bytes) pieces.push(piece)
  return { ...part, bytes: Buffer.concat(pieces).toString('utf8') }
}

await t.test('files are texts, or bytes in base64', async (t) => {
  const given = { app_id: 'shop1' }
  const file = [
    { name: 'hours.md', content: '# Öffnungszeiten' },
    { name: 'hours.txt', content_base64: 'OSB0byA2' },
  ]
  const answer = split('files_upload', { ...given, file })
  t.equal(answer.body, undefined)
  t.same(await partsIn(answer), [
    { kind: 'file', name: 'file', filename: 'hours.md', bytes: '# Öffnungszeiten' },
    { kind: 'file', name: 'file', filename: 'hours.txt', bytes: '9 to 6' },
  ])
  for (const [wrong, location] of [
    [undefined, 'arguments.file'],
    [[], 'arguments.file'],
    [[{ name: 'a.txt' }], 'arguments.file[0]'],
    [[{ name: 'a.txt', content: 'a', content_base64: 'YQ==' }], 'arguments.file[0]'],
    [[{ name: 'a.txt', content_base64: 'a' }], 'arguments.file[0].content_base64'],
    [[{ name: 'a.txt', content: 'a', mode: 1 }], 'arguments.file[0].mode'],
    [Array.from({ length: 21 }, () => ({ name: 'a', content: 'a' })), 'arguments.file'],
  ] as const) {
    t.throws(
      () => split('files_upload', { ...given, file: wrong }),
      { code: 'invalid_request', errors: [{ location }] },
      JSON.stringify(wrong)?.slice(0, 80),
    )
  }
  const large = [{ name: 'a.txt', content: 'a'.repeat(25 * 1_048_576 + 1) }]
  await t.rejects(partsIn(split('files_upload', { ...given, file: large })), {
    code: 'payload_too_large',
    details: { part: 'file', limit_bytes: 25 * 1_048_576 },
  })
})

await t.test('accepted work is found by the path of its record', async (t) => {
  const find = createWorkFinder(FAMILIES)
  const create = tool('edits_create').operation
  t.match(find(create, '/v1/apps/a1/edits/e1'), {
    record: { id: 'edits.get' },
    events: { id: 'edits.follow' },
    params: { app_id: 'a1', edit_id: 'e1' },
    isWhole: true,
  })
  const upload = tool('files_upload').operation
  const file = find(upload, '/v1/apps/a1/files/f1')
  t.match(file, { record: { id: 'files.get' }, isWhole: false })
  t.equal(file?.events, undefined)
  t.equal(find(create, '/v1/nowhere'), undefined)
})
