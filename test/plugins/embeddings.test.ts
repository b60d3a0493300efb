import t from 'tap'
import { runCases } from '../../plugins/conformance.ts'
import { embedderCases } from '../../plugins/embeddings/conformance.ts'
import { assertFails, cosine, embed } from '../../plugins/embeddings/conformance/harness.ts'
import type { Embedder } from '../../plugins/embeddings/contract.ts'
import { MAX_DIMENSIONS } from '../../plugins/embeddings/contract.ts'
import { createMemoryEmbedder } from '../../plugins/embeddings/memory.ts'
import type { OpenAiEmbedderOptions } from '../../plugins/embeddings/openai.ts'
import { createOpenAiEmbedder } from '../../plugins/embeddings/openai.ts'
import { reach, until } from '../support/editing.ts'
import type { FakeVectors } from '../support/fake-model.ts'
import { FAKE_MODEL, startFakeModel } from '../support/fake-model.ts'

const KEY = 'sk-very-secret-0123456789'
const NEVER = new Promise<never>(() => undefined)

const fake = await startFakeModel()
const { fetch, close } = await reach(fake)
t.teardown(async () => {
  await close()
  await fake.close()
})

/** Real time that nothing waits for, unless a test lets it pass. */
function createClock() {
  const due: (() => void)[] = []
  return {
    clock: {
      now: () => 1_800_000_000_000,
      after(_: number, run: () => void) {
        due.push(run)
        return () => void due.splice(due.indexOf(run), 1)
      },
    },
    due,
  }
}

function embedderOf(options: Partial<OpenAiEmbedderOptions> = {}): Embedder {
  return createOpenAiEmbedder({
    baseUrl: fake.url,
    apiKey: KEY,
    model: FAKE_MODEL,
    fetch,
    clock: createClock().clock,
    ...options,
  })
}

const SUITES = {
  memory: { create: () => createMemoryEmbedder(), capabilities: ['close'] },
  openai: { create: () => embedderOf(), capabilities: ['close', 'hangs'] },
}

for (const [name, { create, capabilities }] of Object.entries(SUITES)) {
  await t.test(`${name} keeps the contract of the embeddings room`, async (t) => {
    const makeHarness = async () => {
      const embedder = create()
      return {
        embedder,
        async hang() {
          const seen = fake.requests.length
          fake.queueVectors({ before: NEVER })
          await until(() => fake.requests.length > seen)
        },
        close: async () => embedder.close?.(),
      }
    }
    const left = runCases(
      embedderCases,
      makeHarness,
      (title, run) => {
        void t.test(title, async (t) => {
          await run()
          t.pass('as the contract says')
        })
      },
      capabilities,
    )
    const hanging = embedderCases.filter(({ requires }) => requires === 'hangs')
    const expected = name === 'memory' ? hanging.map((one) => one.name) : []
    t.same(left, expected, 'what is in memory never waits')
  })
}

await t.test('the fake takes words for one another that it is told to', async (t) => {
  const embedder = createMemoryEmbedder({ same: [['car', 'automobile', 'auto']] })
  const [car, auto, bird] = await embed({ embedder }, 'a car', 'a AUTO', 'a bird')
  t.equal(cosine(car, auto), 1)
  t.ok(cosine(car, bird) < 0.9)
})

await t.test('what is sent: the model, the texts and the key, and nothing else', async (t) => {
  await embed({ embedder: embedderOf() }, 'one', 'two')
  const [request] = fake.requests.slice(-1)
  t.equal(request?.path, '/v1/embeddings')
  t.same(request?.body, { model: FAKE_MODEL, input: ['one', 'two'], encoding_format: 'base64' })
  t.equal(request?.headers.authorization, `Bearer ${KEY}`)
  await embed({ embedder: embedderOf({ apiKey: undefined }) }, 'one')
  t.equal(fake.requests.at(-1)?.headers.authorization, undefined)
})

await t.test('what the library would take from the environment is not used', async (t) => {
  const ENVIRONMENT = {
    OPENAI_API_KEY: 'sk-of-the-environment',
    OPENAI_ADMIN_KEY: 'sk-admin',
    OPENAI_ORG_ID: 'org',
    OPENAI_PROJECT_ID: 'project',
    OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
    OPENAI_CUSTOM_HEADERS: 'Authorization: Bearer sk-custom\nx-custom: 1',
    OPENAI_LOG: 'debug',
  }
  t.teardown(() => {
    for (const name of Object.keys(ENVIRONMENT)) delete process.env[name]
  })
  Object.assign(process.env, ENVIRONMENT)
  const printed = (['debug', 'info', 'warn', 'error'] as const).map((level) =>
    t.capture(console, level),
  )
  await embed({ embedder: embedderOf() }, 'one')
  const HEADERS = ['accept', 'accept-encoding', 'connection', 'content-length', 'content-type']
  const { headers } = fake.requests.at(-1) ?? {}
  t.same(Object.keys(headers ?? {}).sort(), [...HEADERS, 'authorization', 'host'].sort())
  t.equal(headers?.authorization, `Bearer ${KEY}`)
  await embed({ embedder: embedderOf({ apiKey: undefined }) }, 'one')
  t.same(Object.keys(fake.requests.at(-1)?.headers ?? {}).sort(), [...HEADERS, 'host'].sort())
  t.same(
    printed.map((calls) => calls().length),
    [0, 0, 0, 0],
    'and nothing is printed',
  )
})

await t.test('vectors as numbers are the same as those in base64', async (t) => {
  const embedder = embedderOf()
  const [coded] = await embed({ embedder }, 'one and two')
  fake.queueVectors({ plain: true })
  const [plain] = await embed({ embedder }, 'one and two')
  t.same(plain, coded)
})

/** Answers that a server gives, each for one question with two texts. */
const data = (...embeddings: readonly unknown[]): string =>
  JSON.stringify({ data: embeddings.map((embedding, index) => ({ index, embedding })) })

await t.test('an answer that is no vector for each text is refused', async (t) => {
  const bodies: Readonly<Record<string, string>> = {
    'no JSON': '<html>',
    'no list': '{"object":"list"}',
    'one for two': data([1, 2]),
    'three for two': data([1, 2], [1, 2], [1, 2]),
    'of two lengths': data([1, 2], [1, 2, 3]),
    'an empty one': data([], []),
    'too long': data(
      [1],
      Array.from({ length: MAX_DIMENSIONS + 1 }, () => 1),
    ),
    'no numbers': data(['1'], ['2']),
    'null in it': data([1, null], [1, 2]),
    'beyond a float': data([1e300], [1]),
    'no base64': data('????', '????'),
    'base64 of five bytes': data('AAAAAAA=', 'AAAAAAA='),
    'base64 of what is no number': data('AADAfw==', 'AADAfw=='),
    'the same place twice': JSON.stringify({
      data: [
        { index: 0, embedding: [1] },
        { index: 0, embedding: [1] },
      ],
    }),
    'a place beyond': JSON.stringify({
      data: [
        { index: 0, embedding: [1] },
        { index: 7, embedding: [1] },
      ],
    }),
  }
  for (const [name, body] of Object.entries(bodies)) {
    fake.queueVectors({ body })
    await assertFails(embed({ embedder: embedderOf() }, 'a', 'b'), 'embeddings_invalid')
    t.pass(name)
  }
  fake.queueVectors({ body: JSON.stringify({ data: [{ embedding: [3, 4] }] }) })
  t.same(await embed({ embedder: embedderOf() }, 'a'), [Float32Array.of(3, 4)], 'no index is one')
  const swapped = { data: [1, 0].map((index) => ({ index, embedding: [index, 9] })) }
  fake.queueVectors({ body: JSON.stringify(swapped) })
  const ordered = await embed({ embedder: embedderOf() }, 'a', 'b')
  t.same(ordered, [Float32Array.of(0, 9), Float32Array.of(1, 9)], 'places count')
})

await t.test('a model whose vectors change their length is refused', async (t) => {
  const embedder = embedderOf()
  await embed({ embedder }, 'a')
  fake.queueVectors({ body: data([1, 2, 3]) })
  const failed = await assertFails(embed({ embedder }, 'a'), 'embeddings_invalid')
  t.equal(failed.internal, 'vectors of 64 numbers became such of 3')
  t.equal((await embed({ embedder }, 'a')).length, 1)
})

await t.test('what a status means, and how long to wait', async (t) => {
  const rows: readonly (readonly [FakeVectors, string, boolean, number?])[] = [
    [{ status: 500 }, 'embeddings_unavailable', true],
    [{ status: 503, headers: { 'retry-after': '7' } }, 'embeddings_unavailable', true, 7000],
    [{ status: 408 }, 'embeddings_unavailable', true],
    [
      { status: 429, headers: { 'retry-after': 'Fri, 15 Jan 2027 08:00:09 GMT' } },
      'embeddings_rate_limited',
      true,
      9000,
    ],
    [{ status: 429, headers: { 'retry-after': 'soon' } }, 'embeddings_rate_limited', true],
    [{ status: 400 }, 'embeddings_refused', false],
    [{ status: 401 }, 'embeddings_refused', false],
    [{ status: 404 }, 'embeddings_refused', false],
    [{ status: 302, headers: { location: '/v1/models' } }, 'embeddings_refused', false],
  ]
  for (const [answer, code, retryable, wait] of rows) {
    fake.queueVectors({ body: `{"error":"${KEY}"}`, ...answer })
    const failing = embed({ embedder: embedderOf() }, 'a')
    const failed = await failing.then(
      () => undefined,
      (cause: unknown) => cause,
    )
    t.match(failed, { code, retryable, internal: `status ${answer.status}` })
    t.equal((failed as { wait?: number }).wait, wait)
    t.notMatch(JSON.stringify(failed), KEY)
  }
})

await t.test(
  'a server that is not there, one that never ends, and one that is refused',
  async (t) => {
    const nowhere = { url: 'http://127.0.0.1:1/v1' }
    const away = await reach(nowhere)
    t.teardown(() => away.close())
    const gone = embedderOf({ baseUrl: nowhere.url, fetch: away.fetch })
    await assertFails(embed({ embedder: gone }, 'a'), 'embeddings_unavailable')
    const refused = embedderOf({
      fetch: () => Promise.reject(Object.assign(new Error('no'), { final: true })),
    })
    await assertFails(embed({ embedder: refused }, 'a'), 'embeddings_refused')

    const large = embedderOf({ limits: { answer: 1000 } })
    fake.queueVectors({ body: ' '.repeat(1001) })
    await assertFails(embed({ embedder: large }, 'a'), 'embeddings_invalid')

    const { clock, due } = createClock()
    const seen = fake.requests.length
    fake.queueVectors({ before: NEVER })
    const late = assertFails(
      embed({ embedder: embedderOf({ clock }) }, 'a'),
      'embeddings_unavailable',
    )
    await until(() => fake.requests.length > seen)
    for (const run of due) run()
    t.equal((await late).internal, 'no answer in time')
    await until(() => fake.requests.at(-1)?.isAborted === true)
    t.same(due, [], 'no timer is left')
  },
)
