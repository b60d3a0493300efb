import type { RawRequest } from './in-process.ts'
import type { SentPart } from './multipart.ts'
import { MULTIPART, bodyOf } from './multipart.ts'
import type { DocumentedOperation, Schema } from './openapi.ts'
import { resolveSchema } from './openapi.ts'
import { drawValue } from './schema-values.ts'
import type { SeededRandom } from './seeded-random.ts'

/** A request in its parts, before they become text. */
export interface Draft {
  readonly method: string
  /** The operation's path, with a value for each parameter still to be put in. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  /** What becomes JSON; undefined for no body. */
  readonly body?: unknown
  /** The body as it is sent, in place of `body`. */
  readonly raw?: string | Uint8Array
}

export type InputClass = 'valid' | 'mutated' | 'missing' | 'oversized'

/** What the document says of how to ask: its examples, and whatever its schemas allow. */
export function draftValid(
  operation: DocumentedOperation,
  params: Readonly<Record<string, string>>,
  credentials: Readonly<Record<string, string>>,
  random: SeededRandom,
): Draft {
  const { method, path, parameters = [], requestBody } = operation
  const queries = parameters.filter(
    (one) => one.in === 'query' && (one.required === true || random.oneIn(3)),
  )
  const given = { ...credentials, ...drawHeaders(parameters, random) }
  const query = queries.map(({ name, schema }) => [name, String(drawValue(schema, random))])
  const content = requestBody?.content?.['application/json']
  const form = requestBody?.content?.['multipart/form-data']
  // Little of what is drawn for a form is taken, and all else may depend on what it makes.
  if (form !== undefined && (content === undefined || random.oneIn(4))) {
    const raw = bodyOf(drawParts(resolveSchema(form.schema), random))
    const headers = { ...given, ...MULTIPART }
    return { method, path, params, query: Object.fromEntries(query) as {}, headers, raw }
  }
  return {
    method,
    path,
    params,
    query: Object.fromEntries(query) as Record<string, string>,
    headers: {
      ...given,
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(content === undefined
      ? {}
      : { body: drawBody(drawValue(content.schema, random), content.example, random) }),
  }
}

/** Those that must be there. */
function drawHeaders(
  parameters: NonNullable<DocumentedOperation['parameters']>,
  random: SeededRandom,
): Readonly<Record<string, string>> {
  const headers = parameters.filter((one) => one.in === 'header' && one.required === true)
  return Object.fromEntries(
    headers.map(({ name }) => [name.toLowerCase(), `drawn-${random.below(1e9)}`]),
  )
}

/** What must be there, and some of what may. */
function drawParts(
  { properties = {}, required = [] }: Schema,
  random: SeededRandom,
): readonly SentPart[] {
  return Object.entries(properties)
    .filter(([name]) => required.includes(name) || random.oneIn(3))
    .flatMap(([name, schema]) =>
      (schema.items ?? schema).format === 'binary'
        ? drawFiles(name, random)
        : [{ name, content: printPart(drawValue({ ...schema, maxLength: 20 }, random)) }],
    )
}

function printPart(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Files of a few kinds, most of which can be read. */
function drawFiles(name: string, random: SeededRandom): readonly SentPart[] {
  return Array.from({ length: 1 + random.below(3) }, () => ({
    name,
    filename: random.pick(['notes.md', 'hours.txt', 'picture.png', '../é.md', '']),
    content: random.pick(['# Hours\n\nNine to five.\n', `${random.below(1e6)}`, '\0\u0001', '']),
  }))
}

/** The example as it is, or with some fields as the schema would have them. */
function drawBody(drawn: unknown, example: unknown, random: SeededRandom): unknown {
  if (random.oneIn(2)) return example ?? drawn
  if (!isObject(drawn) || !isObject(example) || random.oneIn(4)) return drawn
  const replaced = Object.entries(drawn).filter(() => random.oneIn(3))
  return { ...example, ...Object.fromEntries(replaced) }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Change = (draft: Draft, random: SeededRandom) => Draft

const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
const HOSTILE: readonly [unknown, ...unknown[]] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  '',
  ' ',
  '\0',
  '\ud800',
  'e\u0301\u202e😀',
  '../..',
  "' OR 1=1 --",
  '*:*',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999+23:59',
  [],
  [null],
  {},
  { constructor: { prototype: {} }, toString: 1, length: -1 },
  JSON.parse(nested(60)),
]
/** Bodies that are no JSON of the product's kind, and some that nearly are. */
const TEXTS: readonly [string | Uint8Array, ...(string | Uint8Array)[]] = [
  '{',
  'null',
  '"text"',
  '7',
  '[]',
  '{} {}',
  '\ufeff{}',
  "{'a':1}",
  '{"a":NaN}',
  '{"a":1e999,"b":-0}',
  `{"a":${'9'.repeat(400)}}`,
  '{"__proto__":{"admin":true}}',
  '{"\\u005f_proto__":1}',
  '{"a":"\\u0000"}',
  '{"a":"\\ud800"}',
  nested(65),
  nested(5000),
  Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
]
const HEADERS: readonly [Readonly<Record<string, string>>, ...Readonly<Record<string, string>>[]] =
  [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'application/vnd.a+json' },
    { 'content-encoding': 'gzip' },
    { 'idempotency-key': 'two words' },
    { 'idempotency-key': 'the-same-for-all' },
    { 'x-request-id': 'né\u0001' },
    { 'keyhook-account': 'nobody' },
    { 'keyhook-account': "'; --" },
    { authorization: 'Bearer' },
    { authorization: 'Basic YTpi' },
    { authorization: `Bearer service_dk_${'0'.repeat(49)}` },
    { cookie: 'keyhook=%00; a=b' },
    { cookie: 'keyhook=x', origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' },
    { 'accept-language': 'tlh', accept: 'text/html', 'if-none-match': '*' },
  ]

/** Replaces one place of a value, however deep, by something else. */
function damage(value: unknown, random: SeededRandom): unknown {
  if (random.oneIn(3) || typeof value !== 'object' || value === null) return random.pick(HOSTILE)
  if (Array.isArray(value)) {
    const at = random.below(value.length + 1)
    return [...value.slice(0, at), damage(value[at], random), ...value.slice(at + 1)]
  }
  const name = random.pickAny([...Object.keys(value), 'surprise']) ?? 'surprise'
  const members = value as Readonly<Record<string, unknown>>
  return { ...members, [name]: damage(members[name], random) }
}

function changeOne(
  values: Readonly<Record<string, string>>,
  random: SeededRandom,
  value: string,
): Readonly<Record<string, string>> {
  const name = random.pickAny(Object.keys(values))
  return name === undefined ? { surprise: value } : { ...values, [name]: value }
}

function printed(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function withoutOne<T>(
  values: Readonly<Record<string, T>>,
  random: SeededRandom,
): Record<string, T> {
  const dropped = random.pickAny(Object.keys(values))
  return Object.fromEntries(Object.entries(values).filter(([name]) => name !== dropped))
}

const twice: Change = (draft) => {
  const text = JSON.stringify(draft.body ?? {})
  const [first] = /"\w+":/.exec(text) ?? ['"a":']
  return { ...draft, raw: text.replace('{', `{${first}[7],`) }
}

const MUTATIONS: readonly [Change, ...Change[]] = [
  (draft, random) => ({ ...draft, body: damage(draft.body, random) }),
  (draft, random) => ({ ...draft, body: damage(damage(draft.body, random), random) }),
  (draft, random) => ({ ...draft, raw: random.pick(TEXTS) }),
  twice,
  (draft, random) => ({ ...draft, headers: { ...draft.headers, ...random.pick(HEADERS) } }),
  (draft, random) => ({
    ...draft,
    params: changeOne(draft.params, random, printed(random.pick(HOSTILE))),
  }),
  (draft, random) => ({
    ...draft,
    query: changeOne(draft.query, random, printed(random.pick(HOSTILE))),
  }),
]

const OMISSIONS: readonly [Change, ...Change[]] = [
  (draft, random) => ({
    ...draft,
    body: isObject(draft.body) ? withoutOne(draft.body, random) : {},
  }),
  (draft) => ({ ...draft, body: undefined }),
  (draft) => ({ ...draft, raw: '' }),
  (draft, random) => ({ ...draft, headers: withoutOne(draft.headers, random) }),
  (draft, random) => ({ ...draft, params: changeOne(draft.params, random, '') }),
]

const LONG = 'x'.repeat(10_000)
/** More than any operation takes. */
const HUGE = Buffer.alloc(17 * 1_048_576, ' ')
const MANY = Array.from({ length: 10_000 }, () => 'apps:read')

/** Puts something long in place of one member. */
function enlarge(body: unknown, random: SeededRandom): unknown {
  if (!isObject(body)) return MANY
  const name = random.pickAny(Object.keys(body)) ?? 'surprise'
  return { ...body, [name]: random.pick([LONG, MANY, LONG.repeat(30), { [LONG]: LONG }]) }
}

const ENLARGEMENTS: readonly [Change, ...Change[]] = [
  (draft, random) => ({ ...draft, body: enlarge(draft.body, random) }),
  (draft) => ({ ...draft, raw: HUGE }),
  (draft, random) => ({ ...draft, params: changeOne(draft.params, random, LONG) }),
  (draft, random) => ({ ...draft, query: changeOne(draft.query, random, LONG) }),
  (draft, random) => {
    const names = ['authorization', 'idempotency-key', 'x-request-id', 'keyhook-account', 'cookie']
    return { ...draft, headers: { ...draft.headers, [random.pickAny(names) ?? '']: LONG } }
  },
]

export const CHANGES: Readonly<Record<InputClass, readonly [Change, ...Change[]]>> = {
  valid: [(draft) => draft],
  mutated: MUTATIONS,
  missing: OMISSIONS,
  oversized: ENLARGEMENTS,
}

/** The request that a draft stands for. */
export function printRequest(draft: Draft): RawRequest {
  const { method, path, params, query, headers, body, raw } = draft
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(params[name] ?? ''))
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  return {
    method,
    path: pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`,
    headers,
    ...(text === undefined ? {} : { body: text }),
  }
}

/** Lone surrogates have no encoding of their own: they become U+FFFD. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
}
